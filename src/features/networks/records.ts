import * as z from "zod";
import { describeFields, moneyAnswer, responseRecord } from "../../api/declare/record.ts";
import { formatMoney, tokenAsset } from "../../kernel/money/money.ts";
import { finalConfirmations } from "../../platform/chain/networks.ts";
import type { OfferedNetwork } from "./networks.ts";

export const NetworkTokenRecord = responseRecord("NetworkToken", {
  symbol: z.string().meta({ description: "The value for `tokenSymbol` of an invoice." }),
  title: z.string(),
  contract: z.string().meta({
    description:
      "Address of the token's contract. A token of the same name at another address is a fake.",
  }),
  decimals: z.int().min(0),
  minimumAmount: moneyAnswer().meta({
    description:
      "The smallest transfer that counts, in tokens. Smaller ones are recorded and never matched to an invoice, and owed to nobody.",
  }),
  peggedCurrencies: z.array(z.string()).meta({
    description: "Currencies in which one token counts as one unit, without an exchange rate.",
  }),
});
describeFields(NetworkTokenRecord, {
  title: "The token's name for people.",
  decimals: "The token's number of decimals.",
});

export const NetworkRecord = responseRecord("Network", {
  id: z.string().meta({ description: "The value for `network` of invoices and wallets." }),
  title: z.string(),
  tokenStandard: z.string().meta({ description: "Such as `TRC-20`." }),
  isTest: z.boolean().meta({ description: "True if the network's tokens have no value." }),
  chainId: z.int().min(1),
  requiredConfirmations: z.int().min(1).meta({
    description: "Blocks until a payment is confirmed, including its own block.",
  }),
  finalConfirmations: z.int().min(1).meta({
    description:
      "Blocks until a block is final and cannot be replaced any more, including itself: a sent refund is confirmed then, and a payment that counts for no invoice can be refunded. Where the network's nodes report final blocks, their report decides, and this is about the most that it takes.",
  }),
  tokens: z.array(NetworkTokenRecord),
});
describeFields(NetworkRecord, {
  title: "The network's name for people, such as `TRON`.",
  chainId: "The network's numeric chain id (EIP-155).",
  tokens: "The tokens in which invoices can be paid.",
});

export const NetworkListRecord = responseRecord("NetworkList", { data: z.array(NetworkRecord) });
describeFields(NetworkListRecord, {
  data: "All enabled networks.",
});

function presentNetwork({ network, tokens }: OfferedNetwork): z.input<typeof NetworkRecord> {
  return {
    id: network.id,
    title: network.title,
    tokenStandard: network.tokenStandard,
    isTest: network.isTest,
    chainId: network.chainId,
    requiredConfirmations: network.confirmations,
    finalConfirmations: finalConfirmations(network),
    tokens: tokens.map(({ symbol, title, contract, decimals, dust, pegs }) => ({
      symbol,
      title,
      contract: network.kind.formatAddress(contract),
      decimals,
      minimumAmount: formatMoney({ asset: tokenAsset(symbol, decimals), units: dust }),
      peggedCurrencies: [...pegs],
    })),
  };
}

export function presentNetworks(
  networks: readonly OfferedNetwork[],
): z.input<typeof NetworkListRecord> {
  return { data: networks.map(presentNetwork) };
}
