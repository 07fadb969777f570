import { parseUrl } from "../../../../kernel/url.ts";
import { fill, type Catalogue } from "../catalogue.ts";
import type { CheckoutSession } from "../../session.ts";

export interface Link {
  readonly href: string;
  readonly label: string;
}

/** Whom to ask about a payment, and the reference by which the merchant finds it. */
export interface HelpModel {
  readonly ask: string;
  readonly reference: string;
  readonly mail: Link | null;
  readonly site: Link | null;
}

export function makeHelp(session: CheckoutSession, text: Catalogue): HelpModel {
  const { merchantDisplayName: merchant, merchantContactEmail: email, invoice } = session;
  const { reference } = invoice;
  const subject = encodeURIComponent(fill(text.mailSubject, { reference }));
  // An address may contain ? and &, which would begin further fields of the mail.
  const addressOf = (given: string) => encodeURIComponent(given).replace("%40", "@");
  return {
    ask: fill(text.askMerchant, { merchant }),
    reference,
    mail:
      email === null
        ? null
        : { href: `mailto:${addressOf(email)}?subject=${subject}`, label: email },
    site: siteOf(session),
  };
}

/** Returns the merchant's site with its host as the label: in punycode, so that no letter looks like another. */
function siteOf({ merchantWebsite }: CheckoutSession): Link | null {
  const url = merchantWebsite === null ? null : parseUrl(merchantWebsite);
  if (url === null || !isWebLink(url.href)) return null;
  return { href: url.href, label: url.host.replace(/^www\./, "") };
}

/** A defense in depth: whatever is stored, a link never runs a script. */
export function isWebLink(href: string): boolean {
  return /^https?:\/\//i.test(href);
}
