/**
 * Wallets as scripts that a browser injects before a page's own. `globalThis.wallet` is the wallet of the test: what it
 * answers can be changed, and what it was asked for is in `asked`.
 */

/** The answers of a wallet, as its test may set them before the page loads. */
export interface WalletFaults {
  /** The wallet's network, such as `0x1`. */
  readonly chainId?: string;
  /** The network that the wallet is on after a switch; by default the one asked for. */
  readonly switchesTo?: string;
  readonly decimals?: number;
  readonly balance?: number;
  /** The codes with which methods are refused. */
  readonly refuses?: Readonly<Record<string, number>>;
  /** The method that is never answered. */
  readonly hangs?: string;
  /** The methods' results in place of the usual ones. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

const shared = (faults: WalletFaults, chainId: string) => `
  globalThis.wallet = {};
  wallet.reset = (faults) => Object.assign(wallet, {
    chainId: "${chainId}", switchesTo: null, decimals: 6, balance: 10 ** 12,
    refuses: {}, hangs: null, answers: {}, asked: [], forge: null, ...faults,
  });
  wallet.reset(${JSON.stringify(faults)});
  wallet.request = async ({ method, params = [] }) => {
    wallet.asked.push({ method, params });
    if (wallet.hangs === method) return new Promise(() => {});
    const code = wallet.refuses[method];
    if (code !== undefined) throw Object.assign(new Error("no"), { code });
    if (method in wallet.answers) return wallet.answers[method];
    if (wallet.answer !== undefined) return wallet.answer(method, params);
    if (method === "eth_chainId") return wallet.chainId;
    if (method === "wallet_switchEthereumChain") {
      wallet.chainId = wallet.switchesTo ?? params[0].chainId;
      return null;
    }
    return answer(method, params);
  };
`;

export const walletHash = `0x${"5e".repeat(32)}`;
export const payer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/** A wallet of EVM networks, which announces itself unless it is only the well-known variable. */
export function evmWallet(faults: WalletFaults = {}, isAnnounced = true): string {
  return `{
    const word = (n) => "0x" + BigInt(n).toString(16).padStart(64, "0");
    ${shared(faults, "0x1")}
    function answer(method, [call]) {
      if (method === "eth_requestAccounts") return [${JSON.stringify(payer)}];
      if (method === "eth_sendTransaction") return ${JSON.stringify(walletHash)};
      if (method !== "eth_call") throw Object.assign(new Error("unknown"), { code: 4200 });
      return word(call.data.startsWith("0x313ce567") ? wallet.decimals : wallet.balance);
    }
    const provider = { request: wallet.request };
    ${isAnnounced ? announcement("eip6963", "provider", "Fox <b>wallet</b>") : "window.ethereum = provider;"}
  }`;
}

/** Makes one more wallet of that name announce itself. It answers nothing. */
export function anotherWallet(name: string): string {
  return `{ const other = { request: () => new Promise(() => {}) };
    ${announcement("eip6963", "other", name)} }`;
}

function announcement(prefix: string, provider: string, name: string): string {
  return `{
    const info = { uuid: crypto.randomUUID?.() ?? ${JSON.stringify(name)}, name: ${JSON.stringify(name)} };
    const detail = Object.freeze({ info, provider: ${provider} });
    const announce = () =>
      window.dispatchEvent(new CustomEvent("${prefix}:announceProvider", { detail }));
    window.addEventListener("${prefix}:requestProvider", announce);
    announce();
  }`;
}

export const tronPayer = "TYooMgztEmYRpjDCCWUCwsrAvt8HS4pmY3";

/**
 * A wallet of TRON: its tronWeb calls `wallet.node(path, body)`, by default a node that answers from the faults. The
 * transaction to be signed is that of the parameters, in java-tron's format, unless `wallet.forge` changes it.
 */
export function tronWallet(faults: WalletFaults = {}): string {
  return `{
    ${shared(faults, "0x2b6653dc")}
    function answer(method) {
      if (method === "eth_requestAccounts") return [${JSON.stringify(tronPayer)}];
      throw Object.assign(new Error("unknown"), { code: 4200 });
    }
    wallet.payer = ${JSON.stringify(tronPayer)};
    wallet.node = (path) => {
      if (path === "getblock") return { blockID: "0".repeat(56) + wallet.chainId.slice(2) };
      if (path === "decimals()") return wallet.decimals;
      if (path === "balanceOf(address)") return wallet.balance;
      if (path === "sign") return ${JSON.stringify("5e".repeat(32))};
      return wallet.answers.broadcast ?? { result: true };
    };
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    const toHex = (text) =>
      [...text].reduce((sum, one) => sum * 58n + BigInt(alphabet.indexOf(one)), 0n)
        .toString(16).padStart(50, "0").slice(0, 42);
    const hex = (n) => BigInt(n).toString(16).padStart(64, "0");
    const dataOf = (parameters) => parameters.map(({ type, value }) =>
      type === "address" ? toHex(value).slice(2).padStart(64, "0") : hex(value)).join("");
    const refusal = (method) => {
      wallet.asked.push({ method });
      // As TronLink says it: a text without a code.
      if (wallet.refuses[method] !== undefined) throw "Confirmation declined by user";
      return wallet.hangs === method ? new Promise(() => {}) : null;
    };
    const tronWeb = {
      get defaultAddress() { return { base58: wallet.payer }; },
      address: { toHex },
      trx: {
        getBlock: async (height) => wallet.node("getblock", { height }),
        async sign(transaction) {
          await refusal("sign");
          const txID = await wallet.node("sign", transaction.raw_data.contract[0].parameter.value);
          return { ...transaction, txID };
        },
        async sendRawTransaction(signed) {
          wallet.asked.push({ method: "sendRawTransaction", params: [signed] });
          if (wallet.hangs === "sendRawTransaction") return new Promise(() => {});
          if (wallet.refuses.sendRawTransaction !== undefined) throw new Error("timeout of 30000ms exceeded");
          return wallet.node("broadcast", signed);
        },
      },
      transactionBuilder: {
        async triggerConstantContract(contract, call, _options, parameters) {
          const data = dataOf(parameters);
          const word = await wallet.node(call, { contract: toHex(contract), data });
          return { constant_result: [hex(word)] };
        },
        async triggerSmartContract(contract, method, options, parameters, from) {
          wallet.asked.push({ method: "triggerSmartContract", params: [contract, method, options, parameters, from] });
          const data = wallet.answers.data ?? "a9059cbb" + dataOf(parameters);
          const value = { data, owner_address: toHex(from), contract_address: toHex(contract) };
          const type_url = "type.googleapis.com/protocol.TriggerSmartContract";
          const type = [...type_url].map((one) => one.charCodeAt(0).toString(16)).join("");
          const call = "0a15" + value.owner_address + "1215" + value.contract_address + "2244" + data;
          const transaction = {
            visible: false,
            raw_data: {
              contract: [{ parameter: { value, type_url }, type: "TriggerSmartContract" }],
              ref_block_bytes: "beef", ref_block_hash: "e1b9de559665c671",
              expiration: 1600000000000, timestamp: 1599999940000, fee_limit: options.feeLimit,
            },
            raw_data_hex: "0a02beef2208e1b9de559665c671" + "4080c0eff1c82e" + "5aae01081f12a9010a31" + type +
              "1274" + call + "70a0ebebf1c82e" + "900180c2d72f",
          };
          wallet.forge?.(transaction);
          const bytes = Uint8Array.from(transaction.raw_data_hex.match(/../g), (one) => parseInt(one, 16));
          const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))];
          const txID = digest.map((one) => one.toString(16).padStart(2, "0")).join("");
          return { transaction: { txID, ...transaction } };
        },
      },
    };
    const provider = { request: wallet.request, tronWeb };
    ${announcement("TIP6963", "provider", "TronLink")}
  }`;
}
