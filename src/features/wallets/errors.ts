import { defineProblem } from "../../kernel/errors.ts";

export const NetworkNotEnabled = defineProblem({
  code: "network_not_enabled",
  status: 422,
  title: "The network is not enabled",
});
export const WalletAddressRefused = defineProblem({
  code: "wallet_address_refused",
  status: 422,
  title: "The address cannot receive payments",
});
export const WalletAddressUnavailable = defineProblem({
  code: "wallet_address_unavailable",
  status: 409,
  title: "The address cannot be registered",
});
