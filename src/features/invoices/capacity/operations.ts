import { organization } from "../../../api/declare/access.ts";
import { operation } from "../../../api/declare/operation.ts";
import { money } from "../../../api/declare/record.ts";
import { WalletCapacityRecord } from "./records.ts";
import { getWalletCapacity, presentCapacity } from "./service.ts";

export const capacityOperations = [
  operation({
    id: "getWalletCapacity",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/wallets/{walletId}/capacity",
    summary: "Get the number of further invoices that a wallet can tell apart",
    description:
      "An address distinguishes invoices of the same price by small surcharges, whose number is limited. Without `amount`, the result is about the price with the largest used share. An extended key provides an address for each invoice.",
    access: organization("wallets:read"),
    request: {
      query: {
        amount: money()
          .optional()
          .meta({ description: "The price of an invoice: a decimal string in tokens." }),
      },
    },
    response: { status: 200, record: WalletCapacityRecord },
    errors: [],
    handle: (app, call) =>
      getWalletCapacity(app, call.organizationId, call.params.walletId, call.query.amount),
    present: presentCapacity,
  }),
];
