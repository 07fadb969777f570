import { AbstractPaymentProvider } from "@medusajs/framework/utils";
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  BigNumberInput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  PaymentSessionStatus,
  ProviderWebhookPayload,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from "@medusajs/framework/types";
import {
  isProblem,
  openTill,
  verifyWebhook,
  WebhookVerificationError,
  type Invoice,
  type Till,
} from "till-client";

export interface TillProviderOptions {
  /** The address of the instance, such as `https://pay.example.com`. */
  readonly url: string;
  /** An API key with the scope shop. */
  readonly apiKey: string;
  /** The secret of the webhook endpoint, or several while one is exchanged. */
  readonly webhookSecret: string | readonly string[];
  /** The page of the storefront to which customers return. */
  readonly returnUrl?: string;
  /** A token and its network. Without them, customers choose among the options of the payment policy. */
  readonly tokenSymbol?: string;
  readonly network?: string;
}

/** The stored data of a payment session, which the storefront sees too. */
interface SessionData {
  readonly invoiceId: string;
  readonly checkoutUrl: string | null;
}

/**
 * Takes payments in crypto tokens by Till. The storefront sends the customer to `data.checkoutUrl`; Medusa completes the
 * cart when the webhook reports that the invoice is paid.
 */
export class TillPaymentProvider extends AbstractPaymentProvider<TillProviderOptions> {
  static override identifier = "till";

  private readonly till: Till;
  private readonly options: TillProviderOptions;
  private organizationId: Promise<string> | undefined;

  constructor(container: Record<string, unknown>, options: TillProviderOptions) {
    super(container, options);
    this.options = options;
    this.till = openTill({ url: options.url, apiKey: options.apiKey });
  }

  static override validateOptions(options: Record<string, unknown>): void {
    for (const name of ["url", "apiKey", "webhookSecret"]) {
      if (options[name] === undefined || options[name] === "") {
        throw new Error(`The payment provider till needs the option ${name}.`);
      }
    }
  }

  async initiatePayment(input: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const session = textOf(input.data?.["session_id"]) ?? input.context?.idempotency_key;
    if (session === undefined) throw new Error("Medusa named no payment session.");
    return this.createInvoice(session, input, "first");
  }

  /** The cart has changed: another amount is another invoice. */
  async updatePayment(input: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const invoice = await this.invoiceOf(input.data);
    const isSame =
      sameAmount(invoice.amount, amountOf(input.amount)) &&
      invoice.settlementCurrency === input.currency_code.toUpperCase();
    if (isSame && invoice.status === "open") return outputOf(invoice);
    if (invoice.status === "open") await this.cancel(invoice);
    else if (invoice.status !== "expired" && invoice.status !== "canceled") {
      throw new Error(`Money is on the way for the invoice ${invoice.publicId}.`);
    }
    const session = invoice.metadata["medusaSession"];
    if (session === undefined) throw new Error(`${invoice.id} is not an invoice of Medusa.`);
    return this.createInvoice(session, input, invoice.id);
  }

  async deletePayment(input: DeletePaymentInput): Promise<DeletePaymentOutput> {
    return this.cancelPayment(input);
  }

  /** Cancels an invoice on which nothing was paid; any other one stays as it is. */
  async cancelPayment(input: CancelPaymentInput): Promise<CancelPaymentOutput> {
    if (textOf(input.data?.["invoiceId"]) === undefined) return dataOf(input.data);
    await this.cancel(await this.invoiceOf(input.data));
    return dataOf(input.data);
  }

  async authorizePayment(input: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    return this.getPaymentStatus(input);
  }

  async getPaymentStatus(input: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    return outputOf(await this.invoiceOf(input.data));
  }

  /** The tokens are in the merchant's wallet already. */
  async capturePayment(input: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const invoice = await this.invoiceOf(input.data);
    if (invoice.status !== "paid") throw new Error(`The invoice ${invoice.publicId} is not paid.`);
    return outputOf(invoice);
  }

  async retrievePayment(input: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    return outputOf(await this.invoiceOf(input.data));
  }

  /** Till moves no money. The merchant sends the refund, and Medusa records it. */
  refundPayment(input: RefundPaymentInput): Promise<RefundPaymentOutput> {
    return Promise.resolve(dataOf(input.data));
  }

  /**
   * Verifies a webhook, and tells Medusa what it means. Medusa answers a delivery before it calls this, so the state is
   * read again: it does not depend on the order of deliveries.
   */
  async getWebhookActionAndData({
    rawData,
    headers,
  }: ProviderWebhookPayload["payload"]): Promise<WebhookActionResult> {
    const event = await verifyWebhook({
      body: rawData,
      headers: headers as Record<string, string | undefined>,
      secret: this.options.webhookSecret,
    }).catch((error: unknown) => {
      if (error instanceof WebhookVerificationError) return null;
      throw error;
    });
    if (event === null || !event.type.startsWith("invoice.")) return { action: "not_supported" };
    const { id } = event.data as Pick<Invoice, "id">;
    const invoice = await this.till.invoices.get(await this.organization(), id);
    const session_id = invoice.metadata["medusaSession"];
    // Invoices of other shops and of payment links.
    if (session_id === undefined) return { action: "not_supported" };
    const data = { session_id, amount: invoice.amount };
    switch (invoice.status) {
      case "paid":
        return { action: "captured", data };
      case "expired":
        return { action: "failed", data };
      case "canceled":
        return { action: "canceled", data };
      default:
        return { action: "pending", data };
    }
  }

  private async createInvoice(
    session: string,
    { amount, currency_code }: Pick<InitiatePaymentInput, "amount" | "currency_code">,
    replaced: string,
  ): Promise<InitiatePaymentOutput> {
    const { tokenSymbol, network, returnUrl } = this.options;
    const price = amountOf(amount);
    const currency = currency_code.toUpperCase();
    const invoice = await this.till.invoices.create(
      await this.organization(),
      {
        amount: price,
        settlementCurrency: currency,
        redirectUrl: returnUrl ?? null,
        metadata: { medusaSession: session },
        ...(tokenSymbol === undefined || network === undefined ? {} : { tokenSymbol, network }),
      },
      // Medusa repeats a failed call, which must find the same invoice. A price may return after it was changed.
      { idempotencyKey: `medusa-${session}-${currency}-${price}-${replaced}` },
    );
    return { ...outputOf(invoice), id: invoice.id };
  }

  private async cancel(invoice: Invoice): Promise<void> {
    await this.till.invoices
      .cancel(await this.organization(), invoice.id)
      .catch((error: unknown) => {
        // Something was paid, or it has ended.
        if (!isProblem(error, "invoice_not_cancelable")) throw error;
      });
  }

  private async invoiceOf(data: Record<string, unknown> | undefined): Promise<Invoice> {
    const id = textOf(data?.["invoiceId"]);
    if (id === undefined) throw new Error("The payment session has no invoice.");
    return this.till.invoices.get(await this.organization(), id);
  }

  /** The organization of the key, which is read once. */
  private organization(): Promise<string> {
    this.organizationId ??= this.till.auth.getMe().then(
      ({ organizations: [first] }) => {
        if (first === undefined) throw new Error("The API key belongs to no organization.");
        return first.organizationId;
      },
      (error: unknown) => {
        this.organizationId = undefined;
        throw error;
      },
    );
    return this.organizationId;
  }
}

function outputOf(invoice: Invoice): {
  status: PaymentSessionStatus;
  data: Record<string, unknown>;
} {
  const data: SessionData = { invoiceId: invoice.id, checkoutUrl: invoice.checkoutUrl };
  return { status: statusOf(invoice), data: { ...data } };
}

function statusOf({ status }: Invoice): PaymentSessionStatus {
  switch (status) {
    case "paid":
      return "captured";
    case "expired":
      return "error";
    case "canceled":
      return "canceled";
    default:
      return "pending";
  }
}

function dataOf(data: Record<string, unknown> | undefined): { data?: Record<string, unknown> } {
  return data === undefined ? {} : { data };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns an amount as decimal text. Medusa's amounts are in the currency's main unit, in one of several forms. */
function amountOf(amount: BigNumberInput): string {
  const text = textOfAmount(amount);
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${text} is not an amount.`);
  return text;
}

function textOfAmount(amount: BigNumberInput): string {
  if (typeof amount !== "object") return String(amount);
  if ("value" in amount) return String(amount.value);
  if ("numeric" in amount) return String(amount.raw?.value ?? amount.numeric);
  return amount.toFixed();
}

/** Compares amounts that may have different numbers of decimals. */
function sameAmount(one: string, other: string): boolean {
  const plain = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return plain(one) === plain(other);
}
