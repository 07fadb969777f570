// The parts of @medusajs/framework/utils 2.11 that the payment provider uses.
import type * as types from "./types.ts";

export abstract class AbstractPaymentProvider<Options> {
  static identifier: string;
  protected readonly container: Record<string, unknown>;
  protected readonly config: Options;

  protected constructor(container: Record<string, unknown>, config: Options) {
    this.container = container;
    this.config = config;
  }

  static validateOptions(_options: Record<string, unknown>): void {}

  abstract initiatePayment(input: types.InitiatePaymentInput): Promise<types.InitiatePaymentOutput>;
  abstract updatePayment(input: types.UpdatePaymentInput): Promise<types.UpdatePaymentOutput>;
  abstract deletePayment(input: types.DeletePaymentInput): Promise<types.DeletePaymentOutput>;
  abstract authorizePayment(
    input: types.AuthorizePaymentInput,
  ): Promise<types.AuthorizePaymentOutput>;
  abstract capturePayment(input: types.CapturePaymentInput): Promise<types.CapturePaymentOutput>;
  abstract refundPayment(input: types.RefundPaymentInput): Promise<types.RefundPaymentOutput>;
  abstract retrievePayment(input: types.RetrievePaymentInput): Promise<types.RetrievePaymentOutput>;
  abstract cancelPayment(input: types.CancelPaymentInput): Promise<types.CancelPaymentOutput>;
  abstract getPaymentStatus(
    input: types.GetPaymentStatusInput,
  ): Promise<types.GetPaymentStatusOutput>;
  abstract getWebhookActionAndData(
    payload: types.ProviderWebhookPayload["payload"],
  ): Promise<types.WebhookActionResult>;
}

export const Modules = { PAYMENT: "payment" } as const;

export function ModuleProvider(
  module: string,
  { services }: { readonly services: readonly unknown[] },
): { readonly module: string; readonly services: readonly unknown[] } {
  return { module, services };
}
