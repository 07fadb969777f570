import type { z } from "zod";
import { tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney } from "../../kernel/money/money.ts";
import type { NetworkListRecord, NetworkRecord } from "./records.ts";
import { finalConfirmations } from "../../platform/chain/networks.ts";
import type { OfferedNetwork } from "./service.ts";

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
