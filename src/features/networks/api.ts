import * as z from "zod";
import { authenticated } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { describeFields, moneyText, responseRecord } from "../../http/declare/record.ts";
import type { App } from "../../app.ts";
import { formatMoney, tokenAsset } from "../../kernel/money/money.ts";
import {
  finalConfirmations,
  type Network,
  type NetworkToken,
} from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";

const NetworkTokenRecord = responseRecord("NetworkToken", {
  symbol: z.string().meta({ description: "The value for `tokenSymbol` of an invoice." }),
  title: z.string(),
  contract: z.string().meta({
    description:
      "Address of the token's contract. A token of the same name at another address is a fake.",
  }),
  decimals: z.int().min(0),
  minimumAmount: moneyText().meta({
    description:
      "The smallest transfer that counts, in tokens. Smaller ones are recorded and never matched to an invoice, and owed to nobody.",
  }),
  peggedCurrencies: z.array(z.string()).meta({
    description: "Currencies in which one token counts as one unit, without an exchange rate.",
  }),
});

const NetworkRecord = responseRecord("Network", {
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

const NetworkListRecord = responseRecord("NetworkList", { data: z.array(NetworkRecord) });

export const networkOperations = [
  operation({
    id: "listNetworks",
    group: "Networks",
    method: "GET",
    path: "/networks",
    summary: "List the networks and tokens that invoices can be paid in",
    description:
      "The enabled networks with their tokens. A token is omitted while it is disabled because its contract does not have the configured decimals.",
    access: authenticated("networks:read"),
    response: { status: 200, record: NetworkListRecord },
    errors: [],
    handle: (app) => listNetworks(app),
    present: presentNetworks,
  }),
];

export const networksModule: FeatureModule = {
  operations: networkOperations,
};

/** A network with the tokens in which invoices can be issued. */
interface OfferedNetwork {
  readonly network: Network;
  readonly tokens: readonly NetworkToken[];
}

/** Returns the enabled networks, in the order of the settings. */
async function listNetworks({ db, networks }: App): Promise<readonly OfferedNetwork[]> {
  const states = await networkStates(db);
  return [...networks.enabled.values()].map((network) => {
    // The watcher disables a token whose contract has different decimals than configured.
    const disabled = states.get(network.id)?.disabledTokens ?? [];
    return {
      network,
      tokens: network.tokens.filter(({ symbol }) => !disabled.includes(symbol)),
    };
  });
}

describeFields(NetworkTokenRecord, {
  title: "The token's name for people.",
  decimals: "The token's number of decimals.",
});

describeFields(NetworkRecord, {
  title: "The network's name for people, such as `TRON`.",
  chainId: "The network's numeric chain id (EIP-155).",
  tokens: "The tokens in which invoices can be paid.",
});

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

function presentNetworks(networks: readonly OfferedNetwork[]): z.input<typeof NetworkListRecord> {
  return { data: networks.map(presentNetwork) };
}
