export { makeReceiptKeys } from "./keys.ts";
export { makeReceiptService, type ReceiptService } from "./service.ts";
export { verifySigned, type KeySet, type Verified } from "./signed-text.ts";
