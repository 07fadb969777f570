import { defineProblem } from "../../kernel/errors.ts";

export const NetworkNotEnabled = defineProblem({
  code: "network_not_enabled",
  status: 422,
  title: "The network is not enabled",
  remedy: "Choose a network of `listNetworks`, or ask the operator to enable this one.",
});
export const WalletAddressRefused = defineProblem({
  code: "wallet_address_refused",
  status: 422,
  title: "The address cannot receive payments",
  remedy:
    "Use an address of your own wallet: this one is a token contract or the zero address, and money sent to it is lost.",
});
export const WalletAddressUnavailable = defineProblem({
  code: "wallet_address_unavailable",
  status: 409,
  title: "The address cannot be registered",
  remedy:
    "Use another address or key. If it is yours and another organization registered it, ask the operator to release it.",
});
export const DefaultWalletUnusable = defineProblem({
  code: "default_wallet_unusable",
  status: 422,
  title: "The wallet cannot be a default or a reserve of the network",
  remedy: "Choose active wallets of the organization on this network: see `listWallets`.",
});
export const WalletLimit = defineProblem({
  code: "wallet_limit",
  status: 409,
  title: "The organization has as many wallets as it may have",
  remedy:
    "Archive wallets that are no longer used with `archiveWallet`, or register an extended public key, which has an address for each invoice. Before its approval an organization may have few: submit it with `submitOrganizationKyb`.",
});
