// The parts of @medusajs/framework/types 2.11 that the payment provider uses, so that it can be compiled and run without
// Medusa.
export interface BigNumberRawValue {
  readonly value: string | number;
}

export type BigNumberInput =
  | string
  | number
  | BigNumberRawValue
  | { readonly numeric: number; readonly raw?: BigNumberRawValue }
  | { toFixed(): string };

export type PaymentSessionStatus =
  | "authorized"
  | "captured"
  | "pending"
  | "requires_more"
  | "error"
  | "canceled";

interface Input {
  data?: Record<string, unknown>;
  context?: { idempotency_key?: string };
}

interface Priced extends Input {
  amount: BigNumberInput;
  currency_code: string;
}

interface Output {
  data?: Record<string, unknown>;
}

export type InitiatePaymentInput = Priced;
export type UpdatePaymentInput = Priced;
export type DeletePaymentInput = Input;
export type AuthorizePaymentInput = Input;
export type CapturePaymentInput = Input;
export type RetrievePaymentInput = Input;
export type CancelPaymentInput = Input;
export type GetPaymentStatusInput = Input;

export interface RefundPaymentInput extends Input {
  amount: BigNumberInput;
}

export interface InitiatePaymentOutput extends Output {
  id: string;
  status?: PaymentSessionStatus;
}

export interface AuthorizePaymentOutput extends Output {
  status: PaymentSessionStatus;
}

export interface UpdatePaymentOutput extends Output {
  status?: PaymentSessionStatus;
}

export type GetPaymentStatusOutput = AuthorizePaymentOutput;
export type DeletePaymentOutput = Output;
export type CapturePaymentOutput = Output;
export type RefundPaymentOutput = Output;
export type RetrievePaymentOutput = Output;
export type CancelPaymentOutput = Output;

export interface ProviderWebhookPayload {
  provider: string;
  payload: {
    data: Record<string, unknown>;
    rawData: string | Buffer;
    headers: Record<string, unknown>;
  };
}

export interface WebhookActionResult {
  action:
    | "authorized"
    | "captured"
    | "failed"
    | "pending"
    | "requires_more"
    | "canceled"
    | "not_supported";
  data?: { session_id: string; amount: string | number };
}
