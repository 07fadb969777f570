import type { HtmlPage } from "../../../../api/page.ts";
import { fill, type Catalogue } from "../catalogue.ts";
import { renderRefund } from "../render.ts";
import type { RefundOffer } from "../../../refunds/payer/payer-refunds.ts";
import type { CheckoutSession } from "../../session.ts";
import type { RefundForm } from "../../checkouts.ts";

/** Renders the page on which a payer confirms a refund. `path` is that of the payment's page. */
export function makeRefundPage(
  session: CheckoutSession,
  { transactionHash: hash, pageToken }: RefundForm,
  { amount, tokenSymbol, network, address }: RefundOffer,
  context: {
    readonly basePath: string;
    readonly text: Catalogue;
    readonly languageQuery: string;
  },
): HtmlPage {
  const { basePath, text, languageQuery } = context;
  const page = `${basePath}/pay/${session.id}`;
  const values = {
    merchant: session.merchantDisplayName,
    amount: `${amount} ${tokenSymbol}`,
    network: `${network.title} (${network.tokenStandard})`,
  };
  return renderRefund({
    text,
    basePath,
    title: text.refundCheck,
    lead: fill(text.refundCheckLead, values),
    address,
    amount,
    hash,
    pageToken,
    action: `${page}/refund${languageQuery}`,
    path: page + languageQuery,
    isTest: session.isTest,
  });
}
