import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPartialPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { notationOf, type Network } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";
import type { PaymentView } from "./present-payment.ts";
import { positionIn, sortOf, type PaymentFilters } from "./filters.ts";
import { listPayments } from "./listing.ts";
import { findPayment, paymentsOfInvoice, transfersById } from "./ledger/store.ts";
import { payments, type PaymentRow } from "./table.ts";

export interface PaymentService {
  /** Returns an organization's payments, newest first or in the requested order. */
  list(
    organizationId: Id<"organization">,
    query: PaymentFilters & PageQuery,
  ): Promise<Page<PaymentView>>;
  get(organizationId: Id<"organization">, paymentId: Id<"payment">): Promise<PaymentView>;
  /** Returns a payment of any organization, for the operator. */
  find(paymentId: Id<"payment">): Promise<PaymentView>;
  /** Returns the payments of every organization, for the operator. */
  listAll(query: PaymentFilters & PageQuery): Promise<Page<PaymentView>>;
  /** Returns all payments of an invoice in any status, oldest first. */
  ofInvoice(reader: Reader, invoiceId: Id<"invoice">): Promise<readonly PaymentView[]>;
}

export function makePaymentService(deps: {
  readonly db: Reader;
  /** Every configured network by id, including disabled ones, whose payments are still shown. */
  readonly networks: ReadonlyMap<string, Network>;
}): PaymentService {
  const { db, networks } = deps;

  async function toViews(reader: Reader, rows: readonly PaymentRow[]): Promise<PaymentView[]> {
    if (rows.length === 0) return [];
    const [transfers, states] = await Promise.all([
      transfersById(
        reader,
        rows.map(({ transferId }) => transferId),
      ),
      networkStates(reader),
    ]);
    return rows.map((payment) => {
      const transfer = transfers.get(payment.transferId);
      if (transfer === undefined) throw new Defect(`${payment.id} has no transfer`);
      const tipHeight = states.get(payment.network)?.tipHeight ?? payment.blockHeight;
      return { payment, transfer, notation: notationOf(networks, payment.network), tipHeight };
    });
  }

  async function shown(row: PaymentRow | null): Promise<PaymentView> {
    const [view] = row === null ? [] : await toViews(db, [row]);
    if (view === undefined) throw notFound();
    return view;
  }

  async function listed(
    list: string,
    { limit, cursor, ...filters }: PaymentFilters & PageQuery,
  ): Promise<Page<PaymentView>> {
    const sort = sortOf(filters);
    const page = parsePage({ limit, cursor }, list, { ...filters, sort });
    const { rows, resumeAt } = await listPayments(db, filters, page);
    const positionAt = ({ payment }: PaymentView) => positionIn(sort, payment);
    return toPartialPage(await toViews(db, rows), page, positionAt, resumeAt);
  }

  return {
    async get(organizationId, paymentId) {
      return shown(await findPayment(db, organizationId, paymentId));
    },
    async find(paymentId) {
      return shown(await db.findOne(payments, "WHERE id = $1", [paymentId]));
    },
    list: (organizationId, query) => listed("payments", { ...query, organizationId }),
    listAll: (query) => listed("admin_payments", query),
    async ofInvoice(reader, invoiceId) {
      return toViews(reader, await paymentsOfInvoice(reader, invoiceId));
    },
  };
}
