// Pays from a wallet in the payer's browser. Only the session decides what is asked for, and only the wallet's own
// prompt can spend. Wallets are code of others: everything they say is checked, and nothing waits for them forever.
"use strict";
(() => {
  const readMsMax = 20_000;
  const decisionMsMax = 120_000;
  const submitWaitsMs = [0, 2_000, 6_000];
  const walletsMax = 6;
  const nameLengthMax = 30;
  // In sun: 100 TRX, of which a transfer of USDT to an empty address used 14 to 28 in 2025. The rest is not charged.
  const tronFeeLimit = 100_000_000;
  /** The answers of a TRON node that has not taken a transaction. After any other, the network may have it. */
  const tronRefusal =
    /^((SIG|CONTRACT_VALIDATE|CONTRACT_EXE|BANDWITH|TAPOS|TOO_BIG_TRANSACTION|TRANSACTION_EXPIRATION)_?ERROR|SERVER_BUSY|NO_CONNECTION|BLOCK_UNSOLIDIFIED)$/;

  /** The announced wallets by their ids. */
  const announced = new Map();
  let isBusy = false;
  /** The name of the sentence that is shown. */
  let said = "";
  /** The transaction that a wallet sent from this page. */
  let sent = recall();

  /** Ends an attempt; the message names the sentence that says why. */
  class Stopped extends Error {}

  const boxOf = (root) => root.querySelector("#wallets");
  const pageOf = () => document.getElementById("checkout");

  // --- finding wallets ---

  /** Returns the wallets for the network. Those that announce nothing are in well-known variables. */
  function walletsFor(standard) {
    const found = [...announced.values()].filter((each) => each.standard === standard);
    // A transaction of TRON is checked by its digest, which browsers compute only for pages over https.
    if (standard === "tip-6963" && !isSecureContext) return [];
    if (found.length > 0) return found;
    const provider =
      standard === "tip-6963" ? (window.tron ?? window.tronLink) : (window.ethereum ?? undefined);
    return provider === undefined ? [] : [{ name: "", standard, provider }];
  }

  for (const [prefix, standard] of [
    ["eip6963", "eip-6963"],
    ["TIP6963", "tip-6963"],
  ]) {
    window.addEventListener(`${prefix}:announceProvider`, ({ detail }) => {
      const { uuid, name } = detail?.info ?? {};
      if (typeof detail?.provider?.request !== "function" || announced.size >= walletsMax) return;
      const shown = String(name ?? "").slice(0, nameLengthMax);
      announced.set(`${standard} ${uuid}`, { name: shown, standard, provider: detail.provider });
      show();
    });
    dispatchEvent(new Event(`${prefix}:requestProvider`));
  }

  // --- showing ---

  /** Fills the element of the wallets, in the page or in the next version of it. */
  function show(root = pageOf()) {
    const box = root === null ? null : boxOf(root);
    if (!box) return;
    const { settled, data, standard } = box.dataset;
    if (sent !== null && settled.split(" ").includes(sent.hash)) forget();
    const isSent = sent !== null;
    const wallets = data === "" || isSent ? [] : walletsFor(standard);
    const buttons = wallets.map(({ name }, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button main";
      button.dataset.wallet = String(place);
      button.disabled = isBusy;
      // The name comes from the wallet: isolated, so that it cannot turn the text around it.
      const named = box.dataset.payWith.replace("{wallet}", `\u2068${name}\u2069`);
      button.textContent = name === "" ? box.dataset.pay : named;
      return button;
    });
    box.querySelector("#wallet-buttons").replaceChildren(...buttons);
    const line = box.querySelector("#wallet-said");
    const name = isSent && said === "" ? "sent" : said;
    line.textContent = name === "" ? "" : box.dataset[name];
    line.hidden = name === "";
    const apps = box.querySelector("#wallet-apps");
    if (apps)
      apps.hidden = wallets.length > 0 || isSent || !matchMedia("(pointer: coarse)").matches;
    box.hidden = buttons.length === 0 && line.hidden && (apps?.hidden ?? true);
    // Whoever has just paid is not asked for the payment beside it.
    for (const part of box.parentElement.children) if (part !== box) part.hidden = isSent;
  }

  function say(name) {
    said = name;
    show();
  }

  // --- remembering ---

  function keyOf() {
    return `till sent ${location.pathname}`;
  }

  function recall() {
    try {
      return JSON.parse(sessionStorage.getItem(keyOf()));
    } catch {
      return null;
    }
  }

  function remember(next) {
    sent = next;
    try {
      if (next === null) sessionStorage.removeItem(keyOf());
      else sessionStorage.setItem(keyOf(), JSON.stringify(next));
    } catch {
      // The browser keeps nothing. The page itself still knows.
    }
  }

  function keep(hash) {
    if (!/^(0x)?[0-9a-f]{64}$/i.test(hash)) throw new Stopped("failed");
    remember({ hash, isSubmitted: false });
  }

  function forget() {
    remember(null);
    said = "";
  }

  // --- paying ---

  async function pay({ provider }) {
    if (isBusy || sent !== null) return;
    isBusy = true;
    say("waiting");
    try {
      const transfer = await readTransfer();
      const isTron = transfer.walletStandard === "tip-6963";
      const hash = await (isTron ? payOnTron : payOnEvm)(provider, transfer);
      keep(hash);
      await submit();
    } catch (error) {
      say(error instanceof Stopped ? error.message : isRefusal(error) ? "refused" : "failed");
    } finally {
      isBusy = false;
      show();
    }
  }

  /**
   * Reads the transfer that the session asks for now. It must be the one that the payer sees: the calldata alone is the
   * same for every token and network of one address.
   */
  async function readTransfer() {
    const { dataset } = pageOf();
    let session;
    try {
      const answer = await fetch(dataset.session, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      session = await answer.json();
    } catch {
      throw new Stopped("offline");
    }
    const { walletTransfer: transfer } = session;
    const { standard, chainId, contract, data } = boxOf(pageOf())?.dataset ?? {};
    const isShown =
      transfer?.walletStandard === standard &&
      transfer.chainId === chainId &&
      transfer.tokenContract === contract &&
      transfer.data === data;
    if (!isShown) {
      dispatchEvent(new Event("till:look"));
      throw new Stopped("changed");
    }
    return transfer;
  }

  async function payOnEvm(provider, transfer) {
    const { chainId, tokenContract: to, data } = transfer;
    const ask = (method, ...params) => Promise.resolve(provider.request({ method, params }));
    const [from] = await answerOf(ask("eth_requestAccounts"), decisionMsMax);
    const isThere = async () => Number(await answerOf(ask("eth_chainId"))) === Number(chainId);
    await switchChain(isThere, () => ask("wallet_switchEthereumChain", { chainId }));
    const read = (call) => answerOf(ask("eth_call", { to, data: call }, "latest"));
    const balanceOf = `0x70a08231${from.slice(2).toLowerCase().padStart(64, "0")}`;
    await checkToken(
      transfer,
      () => read("0x313ce567"),
      () => read(balanceOf),
    );
    // The wallet refuses the chain id of another network, to which the payer may have switched since.
    return decided(ask("eth_sendTransaction", { from, to, data, value: "0x0", chainId }));
  }

  async function payOnTron(provider, transfer) {
    const { tokenContract, recipient, units, data, chainId } = transfer;
    const ask = (method, ...params) => Promise.resolve(provider.request({ method, params }));
    const isLegacy = provider === window.tronLink && provider !== window.tron;
    const method = isLegacy ? "tron_requestAccounts" : "eth_requestAccounts";
    const connected = await answerOf(ask(method), decisionMsMax);
    // The former method answers a refusal with a code.
    if (connected?.code === 4001) throw new Stopped("refused");
    // The last four bytes of a TRON chain's first block are its chain id. A switch replaces tronWeb.
    const isThere = async () => {
      const { blockID } = await answerOf(provider.tronWeb.trx.getBlock(0));
      return Number(`0x${blockID.slice(-8)}`) === Number(chainId);
    };
    await switchChain(isThere, () => ask("wallet_switchEthereumChain", { chainId }));
    const { tronWeb } = provider;
    const { transactionBuilder: builder, defaultAddress } = tronWeb;
    const from = defaultAddress.base58;
    const read = async (call, parameters) => {
      const asked = builder.triggerConstantContract(tokenContract, call, {}, parameters, from);
      return `0x${(await answerOf(asked)).constant_result[0]}`;
    };
    const owner = { type: "address", value: from };
    const balance = () => read("balanceOf(address)", [owner]);
    await checkToken(transfer, () => read("decimals()", []), balance);
    const parameters = [
      { type: "address", value: recipient },
      { type: "uint256", value: units },
    ];
    const limits = { feeLimit: tronFeeLimit, callValue: 0 };
    const call = "transfer(address,uint256)";
    const { transaction } = await answerOf(
      builder.triggerSmartContract(tokenContract, call, limits, parameters, from),
    );
    const hexOf = (address) => tronWeb.address.toHex(address).toLowerCase();
    const expected = { owner: hexOf(from), contract: hexOf(tokenContract), data: data.slice(2) };
    if (!(await isTronTransfer(transaction, expected))) throw new Stopped("token");
    const signed = await decided(tronWeb.trx.sign(transaction));
    // Kept before it is sent: if the answer is lost, the payment may have been made.
    keep(signed.txID);
    let answer;
    try {
      answer = await answerOf(tronWeb.trx.sendRawTransaction(signed));
    } catch {
      // Submitted all the same.
    }
    const { result, code } = answer ?? {};
    if (code === undefined ? result === false : tronRefusal.test(code)) {
      forget();
      throw new Stopped("failed");
    }
    return signed.txID;
  }

  /**
   * Whether a transaction that a node has made is this call of this contract and nothing else: no second contract, coins
   * or memo, and no higher fee. Its text must say so, which a wallet shows, and its bytes, whose digest is signed.
   */
  async function isTronTransfer({ txID, raw_data, raw_data_hex }, { owner, contract, data }) {
    const shown = raw_data.contract[0].parameter.value;
    const { owner_address, contract_address, data: call, ...values } = shown;
    const isShown =
      raw_data.contract.length === 1 &&
      raw_data.contract[0].type === "TriggerSmartContract" &&
      [owner_address, contract_address, call].join() === [owner, contract, data].join() &&
      Object.values(values).every((value) => !value) &&
      !raw_data.data &&
      raw_data.fee_limit === tronFeeLimit;
    const hex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
    const type = hex(new TextEncoder().encode("type.googleapis.com/protocol.TriggerSmartContract"));
    // The fields in the order of their numbers, as nodes write them: a block (1, 3, 4), the expiration (8), the contract
    // (11) with its type, owner, address and call, the time (14), and the fee limit (18). All lengths are known.
    const number = "([89a-f].)*[0-7].";
    const format =
      `0a02.{4}(18${number})?2208.{16}40${number}` +
      `5aae01081f12a9010a31${type}12740a15${owner}1215${contract}2244${data}` +
      `(70${number})?900180c2d72f`;
    const bytes = raw_data_hex.toLowerCase();
    if (!isShown || !new RegExp(`^(?=[0-9a-f]+$)${format}$`).test(bytes)) return false;
    const given = Uint8Array.from(bytes.match(/../g), (one) => parseInt(one, 16));
    const digest = await crypto.subtle.digest("SHA-256", given);
    return hex(new Uint8Array(digest)) === txID.toLowerCase();
  }

  /** Asks the payer for another network if the wallet is not on the right one. */
  async function switchChain(isThere, ask) {
    if (await isThere()) return;
    try {
      await answerOf(ask(), decisionMsMax);
    } catch (error) {
      if (error instanceof Stopped || isRefusal(error)) throw error;
      // The wallet does not know the network, or cannot switch.
      throw new Stopped("chain");
    }
    if (!(await isThere())) throw new Stopped("chain");
  }

  /** Checks that the wallet sees the token at its contract, and enough of it. */
  async function checkToken({ tokenDecimals, units }, decimals, balance) {
    let found;
    try {
      found = Number(BigInt(await decimals()));
    } catch (error) {
      if (error instanceof Stopped) throw error;
    }
    if (found !== tokenDecimals) throw new Stopped("token");
    if (BigInt(await balance()) < BigInt(units)) throw new Stopped("balance");
  }

  /** Waits for a wallet's answer, but not forever: a closed window or a removed wallet never answers. */
  async function answerOf(asked, msMax = readMsMax) {
    let timer;
    const silence = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Stopped("silent")), msMax);
    });
    try {
      return await Promise.race([asked, silence]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Waits for what may send the payment, however long it takes: a second attempt could pay twice. After a while, the
   * page says that the wallet is silent.
   */
  async function decided(asked) {
    const timer = setTimeout(() => say("silent"), decisionMsMax);
    try {
      return await asked;
    } finally {
      clearTimeout(timer);
    }
  }

  /** EIP-1193 has a code for it; tronWeb only a text. */
  function isRefusal(error) {
    const text = String(error?.message ?? error);
    return error?.code === 4001 || /declined|rejected|denied/i.test(text);
  }

  // --- submitting ---

  async function submit() {
    const { hash } = sent;
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ transactionHash: hash });
    const path = `${pageOf().dataset.session}/transactions`;
    say("sent");
    for (const waitMs of submitWaitsMs) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      try {
        // It is sent even if the payer closes the page now.
        const answer = await fetch(path, { method: "POST", headers, body, keepalive: true });
        if (!answer.ok) continue;
        remember({ hash, isSubmitted: true });
        dispatchEvent(new Event("till:look"));
        return;
      } catch {
        // Tried again.
      }
    }
    say("unsubmitted");
    // The usual form, ready to be sent.
    const form = document.getElementById("hash-form");
    if (form === null) return;
    form.open = true;
    form.querySelector("input").value = hash;
  }

  window.addEventListener("till:page", ({ detail }) => show(detail));
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-wallet]");
    if (!button || button.disabled) return;
    const wallet = walletsFor(boxOf(document).dataset.standard)[Number(button.dataset.wallet)];
    if (wallet !== undefined) void pay(wallet);
  });
  if (sent?.isSubmitted === false && pageOf() !== null) void submit();
})();
