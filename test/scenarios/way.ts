import { Webhook } from "standardwebhooks";
import {
  isEventOf,
  isProblem,
  verifyWebhook,
  type CheckoutSession,
  type CreateInvoiceRequest,
  type EventOf,
  type Invoice,
  type Till,
  type WebhookEventType,
} from "../../src/client/index.ts";
import {
  approve,
  legalFields,
  platformKey,
  register,
  type Person,
  type TestApp,
} from "../support/app.ts";
import { openClient } from "./client.ts";
import type { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A merchant with everything that a first invoice needs, each created by its operation. */
export interface Shop extends Person {
  /** The client with the shop's API key. */
  readonly till: Till;
  readonly webhookSecret: string;
}

/** Registers a merchant, has it approved, and creates an API key, a wallet and a webhook endpoint. */
export async function openShop(
  app: TestApp,
  wallet: { readonly network: string; readonly address?: string; readonly xpub?: string },
  receiver: Receiver,
): Promise<Shop> {
  const person = await register(app);
  const { organizationId, token } = person;
  const owner = openClient({ url: app.url, accessToken: token });
  await owner.organizations.update(organizationId, legalFields);
  await owner.organizations.submitKyb(organizationId);
  await approve(app, await platformKey(app), organizationId);
  const { secret: apiKey } = await owner.apiKeys.create(organizationId, {
    name: "shop",
    scopes: ["read", "write"],
  });
  const till = openClient({ url: app.url, apiKey });
  await till.wallets.create(organizationId, { label: "Till", ...wallet });
  const { url } = receiver;
  const { secret } = await till.webhooks.createEndpoint(organizationId, { url });
  return { ...person, till, webhookSecret: secret };
}

/** An invoice that payers can pay. */
export type IssuedInvoice = Invoice & { readonly checkoutId: string };

/** Issues an invoice of 25 USD in USDT, once the network was reached for the first time. */
export async function issueInvoice(
  { till, organizationId }: { readonly till: Till; readonly organizationId: string },
  network: string,
  more: Partial<CreateInvoiceRequest> = {},
): Promise<IssuedInvoice> {
  const price = { amount: "25", settlementCurrency: "USD", tokenSymbol: "USDT", network };
  const issued = await until(
    "an issued invoice",
    () =>
      till.invoices.create(organizationId, { ...price, ...more }).catch((error: unknown) => {
        if (isProblem(error) && error.status === 503) return null;
        throw error;
      }),
    (invoice) => invoice !== null,
  );
  if (issued?.checkoutId == null) throw new Error("the invoice was not issued");
  return { ...issued, checkoutId: issued.checkoutId };
}

/** Returns the checkout session that the payer sees, who has no credential. */
export function checkout(app: TestApp, { checkoutId }: IssuedInvoice): Promise<CheckoutSession> {
  return openClient({ url: app.url }).checkout.getSession(checkoutId);
}

export function checkoutIs(
  app: TestApp,
  invoice: IssuedInvoice,
  status: string,
): Promise<CheckoutSession> {
  return until(
    `checkout ${status}`,
    () => checkout(app, invoice),
    (session) => session.invoice.status === status,
  );
}

export function readInvoice({ till, organizationId }: Shop, { id }: Invoice): Promise<Invoice> {
  return till.invoices.get(organizationId, id);
}

/** Returns the received events of a type, each verified by the public library and by the client. */
export async function webhooksOf<Type extends WebhookEventType>(
  receiver: Receiver,
  secret: string,
  type: Type,
): Promise<EventOf<Type>[]> {
  const verifier = new Webhook(secret);
  const events = await until(
    `a webhook ${type}`,
    () =>
      Promise.all(
        receiver.requests.map(({ headers, body }) => {
          verifier.verify(body, headers as Record<string, string>);
          return verifyWebhook({ headers, body, secret });
        }),
      ),
    (received) => received.some((event) => event.type === type),
  );
  return events.filter((event) => isEventOf(event, type));
}
