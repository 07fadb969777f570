import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { receiptOperations } from "./operations.ts";
import { receiptPages } from "./pages.ts";
import type { ReceiptService } from "./service.ts";

export const receiptsModule: FeatureModule<{ readonly receipts: ReceiptService }> = {
  operations: { receipts: receiptOperations },
  pages: { receipts: receiptPages },
};
