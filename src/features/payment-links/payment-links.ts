import type { App } from "../../app.ts";
import type { z } from "zod";
import { addressGroups } from "../../http/client-address.ts";
import { hour } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import { idPattern, type Id } from "../../kernel/id.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { formatMoney, parseMoneyField } from "../../kernel/money/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import { LinkLimitReached, type LinkLimitName } from "../invoices/errors.ts";
import { checkInvoice, createInvoice } from "../invoices/issuing/create.ts";
import { distinctOptions, type PaymentOption } from "../organizations/checkout-policy.ts";
import { findOrganization, type OrganizationRow } from "../organizations/store.ts";
import {
  presentPaymentLink,
  type CreatePaymentLinkInput,
  type LimitedPaymentLinkRecord,
  type PaymentLinkView,
} from "./records.ts";
import {
  linkMetadata,
  normalizeEntered,
  paymentLinks,
  readAmounts,
  type LinkTerms,
  type PaymentLinkRow,
} from "./terms.ts";

/** A way to pay at a link that the payer can choose now. */
interface LinkOption {
  /** The option in the link's form. */
  readonly value: string;
  readonly network: Network;
  readonly option: PaymentOption;
}

/** A link as its payers see it. */
export interface PublicLink {
  readonly link: PaymentLinkView;
  readonly merchant: OrganizationRow;
  /** Null if the link's invoices name none, or one that is not in the network table. */
  readonly network: Network | null;
  /** The options in the merchant's order; empty if there is no choice. */
  readonly options: readonly LinkOption[];
}

/** Returns a page of an organization's links, newest first. */
export async function listPaymentLinks(
  app: App,
  organizationId: Id<"organization">,
  { limit, cursor, status }: PageQuery & { readonly status?: "active" | "disabled" | undefined },
): Promise<Page<PaymentLinkView>> {
  const page = parsePage({ limit, cursor }, "payment_links", { organizationId, status });
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  const rows = await app.db.find(paymentLinks, rest, values);
  return mapPage(toPage(rows, page), (row) => viewOf(row, app));
}

/** Returns a link. @throws a 404 problem if the organization has none with this id */
export async function getPaymentLink(
  app: App,
  organizationId: Id<"organization">,
  linkId: Id<"paymentLink">,
): Promise<PaymentLinkView> {
  const row = await app.db.findOne(paymentLinks, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    linkId,
  ]);
  if (row === null) throw notFound();
  return viewOf(row, app);
}

function viewOf(row: PaymentLinkRow, { baseUrl }: Pick<App, "baseUrl">): PaymentLinkView {
  return { ...row, url: `${baseUrl()}/link/${row.id}` };
}

/** Creates a link after validating its terms like those of an invoice. */
export async function createPaymentLink(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CreatePaymentLinkInput,
): Promise<PaymentLinkView> {
  const { db, clock, ids, journal } = app;
  const { amount: _, minAmount: __, maxAmount: ___, ...terms } = input;
  const amounts = await readAmounts(input, (amount) =>
    checkInvoice(app, organizationId, { ...terms, amount }),
  );
  return db.write(context, async (tx) => {
    const at = clock.now();
    const row: PaymentLinkRow = {
      id: ids.next("paymentLink", at),
      organizationId,
      status: "active",
      ...amounts,
      terms,
      version: 1,
      limitedAt: null,
      rangeLimitedAt: null,
      createdAt: at,
      updatedAt: at,
    };
    await tx.insert(paymentLinks, row);
    const view = viewOf(row, app);
    journal.record(tx, at, {
      action: "payment_link.created",
      organizationId,
      subjectType: "payment_link",
      subjectId: row.id,
      changes: { ...amounts, ...terms },
      events: { types: ["payment_link.created"], version: 1, data: presentPaymentLink(view) },
    });
    return view;
  });
}

/** Ends a link: its page starts no more payments. Repeating has no effect; its invoices remain. */
export function disablePaymentLink(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  linkId: Id<"paymentLink">,
): Promise<PaymentLinkView> {
  const { db, clock, journal } = app;
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await tx.lockOne(paymentLinks, "WHERE organization_id = $1 AND id = $2", [
      organizationId,
      linkId,
    ]);
    if (current === null) throw notFound();
    if (current.status === "disabled") return viewOf(current, app);
    const set = { status: "disabled" as const, version: current.version + 1, updatedAt: at };
    await tx.update(paymentLinks, set, "WHERE id = $1", [linkId]);
    const view = viewOf({ ...current, ...set }, app);
    const data = { ...presentPaymentLink(view), previousStatus: current.status };
    journal.record(tx, at, {
      action: "payment_link.disabled",
      organizationId,
      subjectType: "payment_link",
      subjectId: linkId,
      changes: { status: { from: current.status, to: set.status } },
      events: { types: ["payment_link.disabled"], version: set.version, data },
    });
    return view;
  });
}

const linkPattern = idPattern("paymentLink");

/** Returns a link as its payers see it; 404 if it is disabled or does not exist. */
export async function getPublicLink(app: App, linkId: string): Promise<PublicLink> {
  const { db, networks } = app;
  const row = linkPattern.test(linkId)
    ? await db.findOne(paymentLinks, "WHERE id = $1 AND status = 'active'", [linkId])
    : null;
  const merchant = row === null ? null : await findOrganization(db, row.organizationId);
  if (row === null || merchant === null) throw notFound();
  const network = networks.known.get(row.terms.network ?? "") ?? null;
  const options = await optionsToChoose(app, row, merchant);
  return { link: viewOf(row, app), merchant, network, options };
}

/** Returns the options of a link that can be chosen now; none if the merchant offers only one. */
async function optionsToChoose(
  { db, networks }: App,
  { terms: { network, tokenSymbol, paymentOptions } }: PaymentLinkRow,
  merchant: OrganizationRow,
): Promise<readonly LinkOption[]> {
  if (network !== undefined || tokenSymbol !== undefined) return [];
  const offered =
    paymentOptions === undefined ? merchant.paymentOptions : distinctOptions(paymentOptions);
  if (offered === null || offered.length < 2) return [];
  const states = await networkStates(db);
  return offered.flatMap((option) => {
    const of = networks.known.get(option.network);
    const isDisabled = states.get(option.network)?.disabledTokens.includes(option.tokenSymbol);
    if (of === undefined || !networks.enabled.has(of.id) || isDisabled === true) return [];
    return [{ value: `${of.id}/${option.tokenSymbol}`, network: of, option }];
  });
}

/** The fields of a link's form. */
interface LinkForm {
  /** The payer's amount; it is ignored if the link has one. */
  readonly amount: string;
  /** The option that the payer chose; empty: the first one. */
  readonly option: string;
}

/** Names the option in the form that the link does not offer. */
export const optionPointer = "/option";

/**
 * Issues an invoice for one payer, with the chosen option in force, and returns its checkout's id. Nothing is stored for
 * the other options. 400 if the amount is not one within the link's bounds, or the option is not offered, and the errors of
 * an invoice. If too many invoices of links are unpaid, the merchant gets an event.
 */
export async function startLinkPayment(
  app: App,
  context: WriteContext,
  { link, options }: PublicLink,
  form: LinkForm,
): Promise<string> {
  const { id, organizationId, amount, minAmount, maxAmount } = link;
  const terms = withChosen(link.terms, options, form.option);
  const read = (text: string) => checkInvoice(app, organizationId, { ...terms, amount: text });
  const money = await read(amount ?? normalizeEntered(form.amount));
  // Not checked again: a bound for which no invoice can be issued now says nothing about the payer's amount.
  const [least, most] = [minAmount, maxAmount].map((bound) =>
    bound === null ? null : parseMoneyField("/amount", bound, money.asset),
  );
  if ((least != null && money.units < least.units) || (most != null && money.units > most.units)) {
    throw invalidField("/amount", "out_of_range", "is outside the link's bounds");
  }
  try {
    const { invoice } = await createInvoice(app, context, organizationId, {
      ...terms,
      amount: formatMoney(money),
      enteredAtLink: amount === null ? id : null,
      startedAtLink: id,
      startedFrom: context.ip === null ? null : (addressGroups(context.ip).at(-1) ?? null),
      metadata: linkMetadata(id),
    });
    if (invoice.checkoutId === null) throw notFound();
    return invoice.checkoutId;
  } catch (error) {
    if (error instanceof LinkLimitReached) await announceLimit(app, context, link, error.limit);
    throw error;
  }
}

/** Returns the terms of a link's invoice with the chosen option first, which is the one in force. */
function withChosen(terms: LinkTerms, options: readonly LinkOption[], value: string): LinkTerms {
  if (value === "" && options.length === 0) return terms;
  const chosen = value === "" ? options[0] : options.find((each) => each.value === value);
  if (chosen === undefined) {
    throw invalidField(optionPointer, "not_offered", "is not an option of the link");
  }
  const others = options.filter((each) => each !== chosen);
  const paymentOptions = [chosen, ...others].map(({ option: { walletId, ...option } }) => ({
    ...option,
    ...(walletId !== null && { walletId }),
  }));
  return { ...terms, paymentOptions };
}

/** The least time between two events that a link refuses everybody, or ranges of client addresses, in milliseconds. */
const limitedEveryMs = hour;

/**
 * Tells the merchant which limit refused a payer at a link: at most once in `limitedEveryMs` for each link that everybody is
 * refused, and as often that ranges of client addresses are.
 */
async function announceLimit(
  app: App,
  context: WriteContext,
  link: PaymentLinkRow,
  limit: LinkLimitName,
): Promise<void> {
  const { db, clock, journal } = app;
  const isOfEverybody = limit === "link" || limit === "organization";
  const lastAt = isOfEverybody ? "limitedAt" : "rangeLimitedAt";
  // A time ahead can only come from a clock that was set back since.
  const isDue = ({ [lastAt]: last }: PaymentLinkRow) =>
    last === null || Math.abs(clock.now() - last) >= limitedEveryMs;
  if (!isDue(link)) return;
  await db.write(context, async (tx) => {
    const at = clock.now();
    const current = await tx.lockOne(paymentLinks, "WHERE id = $1", [link.id]);
    if (current === null || !isDue(current)) return;
    const set = { [lastAt]: at, version: current.version + 1, updatedAt: at };
    await tx.update(paymentLinks, set, "WHERE id = $1", [link.id]);
    const data: z.input<typeof LimitedPaymentLinkRecord> = {
      ...presentPaymentLink(viewOf({ ...current, ...set }, app)),
      limit,
    };
    journal.record(tx, at, {
      organizationId: current.organizationId,
      subjectType: "payment_link",
      subjectId: link.id,
      events: { types: ["payment_link.limited"], version: set.version, data },
    });
  });
}
