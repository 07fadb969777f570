import { bind, type Bound } from "../../kernel/bind.ts";
import type { Clock } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import { idPattern, type Id, type IdSource } from "../../kernel/id.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { formatMoney, parseMoneyField } from "../../kernel/money/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import { pageQuery } from "../../platform/database/query/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { InvoiceService } from "../invoices/index.ts";
import { findOrganization, type OrganizationRow } from "../organizations/index.ts";
import { presentPaymentLink, type PaymentLinkView } from "./present.ts";
import { paymentLinks, type PaymentLinkRow } from "./table.ts";
import { linkMetadata, normalizeEntered, readAmounts, type LinkInput } from "./terms.ts";

export type PaymentLinkService = Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly baseUrl: () => string;
  readonly networks: ReadonlyMap<string, Network>;
  readonly invoices: Pick<InvoiceService, "check" | "create">;
}

/** A link as its payers see it. */
export interface PublicLink {
  readonly link: PaymentLinkView;
  readonly merchant: OrganizationRow;
  /** Null if the link's invoices name none, or one that is not in the network table. */
  readonly network: Network | null;
}

const methods = { list, get, create, disable, show, open, basePath };

export function makePaymentLinkService(deps: Deps): PaymentLinkService {
  return bind(deps, methods);
}

function viewOf({ baseUrl }: Deps, row: PaymentLinkRow): PaymentLinkView {
  return { ...row, url: `${baseUrl()}/link/${row.id}` };
}

/** Returns the path prefix of this instance, without a trailing slash. */
function basePath({ baseUrl }: Deps): string {
  return new URL(baseUrl()).pathname.replace(/\/$/, "");
}

async function list(
  deps: Deps,
  organizationId: Id<"organization">,
  { limit, cursor, status }: PageQuery & { readonly status?: "active" | "disabled" | undefined },
): Promise<Page<PaymentLinkView>> {
  const page = parsePage({ limit, cursor }, "payment_links", { organizationId, status });
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  const rows = await deps.db.find(paymentLinks, rest, values);
  return mapPage(toPage(rows, page), (row) => viewOf(deps, row));
}

async function get(
  deps: Deps,
  organizationId: Id<"organization">,
  linkId: Id<"paymentLink">,
): Promise<PaymentLinkView> {
  const row = await deps.db.findOne(paymentLinks, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    linkId,
  ]);
  if (row === null) throw notFound();
  return viewOf(deps, row);
}

/** Creates a link after validating its terms like those of an invoice. */
async function create(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: LinkInput,
): Promise<PaymentLinkView> {
  const { db, clock, ids, journal, invoices } = deps;
  const { amount: _, minAmount: __, maxAmount: ___, ...terms } = input;
  const amounts = await readAmounts(input, (amount) =>
    invoices.check(organizationId, { ...terms, amount }),
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
      createdAt: at,
      updatedAt: at,
    };
    await tx.insert(paymentLinks, row);
    const view = viewOf(deps, row);
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
function disable(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  linkId: Id<"paymentLink">,
): Promise<PaymentLinkView> {
  const { db, clock, journal } = deps;
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await tx.lockOne(paymentLinks, "WHERE organization_id = $1 AND id = $2", [
      organizationId,
      linkId,
    ]);
    if (current === null) throw notFound();
    if (current.status === "disabled") return viewOf(deps, current);
    const set = { status: "disabled" as const, version: current.version + 1, updatedAt: at };
    await tx.update(paymentLinks, set, "WHERE id = $1", [linkId]);
    const view = viewOf(deps, { ...current, ...set });
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
async function show(deps: Deps, linkId: string): Promise<PublicLink> {
  const row = linkPattern.test(linkId)
    ? await deps.db.findOne(paymentLinks, "WHERE id = $1 AND status = 'active'", [linkId])
    : null;
  const merchant = row === null ? null : await findOrganization(deps.db, row.organizationId);
  if (row === null || merchant === null) throw notFound();
  const network = deps.networks.get(row.terms.network ?? "") ?? null;
  return { link: viewOf(deps, row), merchant, network };
}

/**
 * Issues an invoice for one payer and returns its checkout's id. `entered` is the payer's amount; it is ignored if the
 * link has one. 400 if it is not an amount within the link's bounds, and the errors of an invoice.
 */
async function open(
  deps: Deps,
  context: WriteContext,
  { id, organizationId, amount, minAmount, maxAmount, terms }: PaymentLinkRow,
  entered: string,
): Promise<string> {
  const { invoices } = deps;
  const read = (text: string) => invoices.check(organizationId, { ...terms, amount: text });
  const money = await read(amount ?? normalizeEntered(entered));
  // Not checked again: a bound for which no invoice can be issued now says nothing about the payer's amount.
  const [least, most] = [minAmount, maxAmount].map((bound) =>
    bound === null ? null : parseMoneyField("/amount", bound, money.asset),
  );
  if ((least != null && money.units < least.units) || (most != null && money.units > most.units)) {
    throw invalidField("/amount", "out_of_range", "is outside the link's bounds");
  }
  const { invoice } = await invoices.create(context, organizationId, {
    ...terms,
    amount: formatMoney(money),
    enteredAtLink: amount === null ? id : null,
    startedAtLink: id,
    metadata: linkMetadata(id),
  });
  if (invoice.checkoutId === null) throw notFound();
  return invoice.checkoutId;
}
