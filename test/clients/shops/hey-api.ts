// A shop on the client that @hey-api/openapi-ts makes. It lists its newest invoices.
import { createClient } from "./hey/client";
import { createInvoice, listInvoices, type Invoice } from "./hey";

export function openShop(options: { apiBase: string; apiKey: string; organizationId: string }) {
  const client = createClient({
    baseUrl: options.apiBase,
    auth: ({ type }) => (type === "apiKey" ? options.apiKey : undefined),
  });
  const path = { organizationId: options.organizationId };
  const orders = new Map<string, string>();

  function decide({ status, exception, remainingAmount }: Invoice): string {
    switch (status) {
      case "paid":
        return "shipped";
      case "partially_paid":
        return remainingAmount === null ? "waits for payment" : "asked for the rest";
      case "expired":
        return exception === "underpaid" ? "refund what came" : "given up";
      case "canceled":
        return "given up";
      case "draft":
      case "open":
      case "confirming":
        return "waits for payment";
    }
  }

  return {
    orders,
    async order(name: string, amount: string): Promise<Invoice> {
      const { data, error } = await createInvoice({
        client,
        path,
        headers: { "Idempotency-Key": `order ${name}` },
        body: {
          amount,
          settlementCurrency: "USD",
          tokenSymbol: "USDT",
          network: "sandbox",
          externalId: name,
        },
      });
      if (error !== undefined) throw new Error(`${error.code}: ${error.detail}`);
      orders.set(name, "waits for payment");
      return data;
    },
    async work(): Promise<void> {
      const { data, error } = await listInvoices({ client, path, query: { limit: 10 } });
      if (error !== undefined) throw new Error(`${error.code}: ${error.detail}`);
      for (const invoice of data.data) {
        const name = invoice.externalId;
        if (name !== null && orders.has(name)) orders.set(name, decide(invoice));
      }
    },
  };
}
