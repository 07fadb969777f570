import { expect } from "chai";
import { AmountTooLarge, AmountTooSmall, NoWallet } from "../../../src/features/invoices/index.ts";
import { paymentLinkPages } from "../../../src/features/payment-links/pages.ts";
import type { PaymentLinkService } from "../../../src/features/payment-links/service.ts";
import { invalidField } from "../../../src/kernel/errors.ts";
import { StoreUnavailable } from "../../../src/platform/database/index.ts";

/** Sends a payer's amount to a service that answers so. Returns where the payer is sent. */
async function entered(answer: Promise<string>, query = ""): Promise<string> {
  const page = paymentLinkPages.find(({ method }) => method === "POST");
  const service = {
    show: () => Promise.resolve({ link: { id: "lnk_1" } }),
    open: () => answer,
    basePath: () => "/shop",
  } as unknown as PaymentLinkService;
  const sent = await page?.handle(service, {
    params: { paymentLinkId: "lnk_1" },
    query: new URLSearchParams(query),
    form: new URLSearchParams({ amount: "1" }),
    requestId: "req_1",
    clientAddress: "198.51.100.1",
    acceptLanguage: "en",
  });
  return sent?.kind === "redirect" ? sent.location : "nowhere";
}

describe("A payer who enters an amount at a payment link", () => {
  it("is sent to the payment, or told why it was not started, in the chosen language", async () => {
    for (const [query, more] of [
      ["", ""],
      ["lang=de", "lang=de"],
    ] as const) {
      const paid = await entered(Promise.resolve("chk_1"), query);
      expect(paid).to.equal(`/shop/pay/chk_1${more === "" ? "" : `?${more}`}`);
      const refused = await entered(Promise.reject(new NoWallet("None.")), query);
      const suffix = more === "" ? "" : `&${more}`;
      expect(refused).to.equal(`/shop/link/lnk_1?failed=unavailable${suffix}`);
    }
    for (const error of [
      new AmountTooLarge("Less."),
      new AmountTooSmall("More."),
      invalidField("/amount", "out_of_range", "is outside the link's bounds"),
    ]) {
      expect(await entered(Promise.reject(error))).to.equal("/shop/link/lnk_1?failed=amount");
    }
  });

  it("sees the page of a problem if Till has a defect, or its store is unavailable", async () => {
    for (const error of [new Error("a defect"), new StoreUnavailable("The disk is full.")]) {
      const failure = await entered(Promise.reject(error)).catch((reason: unknown) => reason);
      expect(failure).to.equal(error);
    }
  });
});
