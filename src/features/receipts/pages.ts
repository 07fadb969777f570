import { pagesOf, type PageAnswer } from "../../api/page.ts";
import type { ReceiptService } from "./service.ts";

const page = pagesOf<ReceiptService>();

export const receiptPages = [
  page({ method: "GET", path: "/.well-known/jwks.json", limit: null, handle: showKeys }),
];

/** RFC 7517 names the type of a key set. */
async function showKeys(service: ReceiptService): Promise<PageAnswer> {
  return {
    kind: "data",
    type: "application/jwk-set+json",
    body: JSON.stringify(await service.publishedKeys()),
  };
}
