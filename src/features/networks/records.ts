import { z } from "zod";
import { responseRecord } from "../../api/record.ts";

export const NetworkTokenRecord = responseRecord("NetworkToken", {
  symbol: z.string().meta({ description: "Goes into the `tokenSymbol` of an invoice." }),
  title: z.string(),
  contract: z.string().meta({
    description:
      "Address of the token's contract. A token of this name at another address is a fake.",
  }),
  decimals: z.int().min(0),
  peggedCurrencies: z.array(z.string()).meta({
    description: "Currencies for which one token counts as one, without an exchange rate.",
  }),
});

export const NetworkRecord = responseRecord("Network", {
  id: z.string().meta({ description: "Goes into the `network` of invoices and wallets." }),
  title: z.string(),
  tokenStandard: z.string().meta({ description: "Such as `TRC-20`." }),
  isTest: z.boolean().meta({ description: "True for a network whose tokens are worth nothing." }),
  chainId: z.int().min(1),
  requiredConfirmations: z.int().min(1).meta({
    description: "Blocks until a payment is confirmed, its own block included.",
  }),
  tokens: z.array(NetworkTokenRecord),
});

export const NetworkListRecord = responseRecord("NetworkList", { data: z.array(NetworkRecord) });
