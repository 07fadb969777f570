import type { Instant } from "../../../src/kernel/clock.ts";
import { bareAddress, encodeCall, mappingSlot, wordOf } from "./abi.ts";
import {
  startAnvil,
  type Anvil,
  type MinedTransaction,
  type ReorganizedTransactions,
} from "./anvil.ts";
import { runtimeBytecode } from "./contracts/compiled.ts";
import { startEvmFront, type RpcFront } from "./rpc-front.ts";
import { startTronFront, type TronFront } from "./tron-front.ts";

export type LabToken = "USDT" | "fake";

export interface LabPayment {
  /** The network's USDT, the default, or a contract at another address with the same name and similar logs. */
  readonly token?: LabToken;
  /** 20 bytes in hexadecimal, with or without 0x. */
  readonly to: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** The index of the payer, 0 to 8 (default 0). */
  readonly from?: number;
}

export interface LabOptions {
  /** The time of block 0, a whole second; by default the current time. */
  readonly genesisTime?: Instant;
  /** The block interval in seconds; by default blocks have the machine's time. */
  readonly blockSeconds?: number;
  /**
   * The height of the first block, to start as high as real chains (default 0). No block exists below, so `finalized`
   * needs blocks first.
   */
  readonly firstBlock?: number;
  /** `finalized` is twice this many blocks below the tip (default 32); on TRON it is always 19 below. */
  readonly slotsInAnEpoch?: number;
}

/** A private chain with the network's real chain id and USDT at its real address, and payers with large balances. */
export interface ChainLab<Front extends RpcFront = RpcFront> {
  /** The id in config/networks.yaml. */
  readonly network: string;
  readonly chainId: number;
  /** The value for TILL_<NETWORK>_RPC_URLS. */
  readonly providerUrl: string;
  /** The provider behind that URL, with its faults and request counts. */
  readonly provider: Front;
  readonly anvil: Anvil;
  /** Contract addresses, 40 hexadecimal digits each. */
  readonly tokens: Readonly<Record<LabToken, string>>;
  /** The payers' addresses, 40 hexadecimal digits each. */
  readonly payers: readonly string[];
  /** Adds a provider of the same chain, for failover and disagreement. It stops with the lab. */
  addProvider(): Promise<Front>;
  /** Pays in a separate block. */
  pay(payment: LabPayment): Promise<MinedTransaction>;
  /** Sends a transfer of zero, which still emits a log: the method of address poisoning. */
  payZero(to: string): Promise<MinedTransaction>;
  /** Sends a transfer beyond the payer's balance: it is mined, fails, and emits no log. */
  payFailing(payment: LabPayment): Promise<MinedTransaction>;
  /** Sends many transfers of one token in one transaction, like an exchange's payout. */
  batchPay(payments: readonly LabPayment[]): Promise<MinedTransaction>;
  /** Mines many transactions in one block. */
  payTogether(payments: readonly LabPayment[]): Promise<MinedTransaction[]>;
  /** Sets the fee that USDT deducts from every further transfer, in basis points. */
  setTransferFee(basisPoints: bigint): Promise<void>;
  height(): Promise<number>;
  mine(blocks?: number): Promise<void>;
  /** Sets the time of the next block, a whole second that is not before the tip's. */
  setNextBlockTime(at: Instant): Promise<void>;
  /** Replaces the last blocks by the same number of new ones; by default their transactions are dropped. */
  reorg(depth: number, transactions?: ReorganizedTransactions): Promise<void>;
  /** Removes the last blocks, so that the tip goes back. */
  rollback(blocks: number): Promise<void>;
  stop(): Promise<void>;
}

interface LabDefinition<Front extends RpcFront> {
  readonly network: string;
  readonly chainId: number;
  readonly usdt: string;
  readonly usdtContract: "UsdtLike" | "UsdtLike18";
  readonly startFront: (anvil: Anvil) => Promise<Front>;
}

const fakeUsdt = "fa4efa4efa4efa4efa4efa4efa4efa4efa4efa4e";
const multiSender = "5e4de25e4de25e4de25e4de25e4de25e4de25e4d";
const balancesSlot = 0n;
const plenty = 10n ** 40n;
/** Gas for one log, two storage writes and the calldata of an entry. */
const gasPerTransfer = 60_000;

/** Starts a TRON mainnet behind an endpoint like java-tron's. */
export function startTronLab(options: LabOptions = {}): Promise<ChainLab<TronFront>> {
  return startLab(options, {
    network: "tron",
    chainId: 728_126_428,
    usdt: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
    usdtContract: "UsdtLike",
    startFront: (anvil) => startTronFront(anvil),
  });
}

/** Starts an Ethereum mainnet behind a plain endpoint. */
export function startEthereumLab(options: LabOptions = {}): Promise<ChainLab> {
  return startLab(options, {
    network: "ethereum",
    chainId: 1,
    usdt: "dac17f958d2ee523a2206206994597c13d831ec7",
    usdtContract: "UsdtLike",
    startFront: startEvmFront,
  });
}

/** Starts a BNB Smart Chain behind a plain endpoint; its USDT has 18 decimals. */
export function startBscLab(options: LabOptions = {}): Promise<ChainLab> {
  return startLab(options, {
    network: "bsc",
    chainId: 56,
    usdt: "55d398326f99059ff775485246999027b3197955",
    usdtContract: "UsdtLike18",
    startFront: startEvmFront,
  });
}

/** Starts a Base mainnet, a layer 2, behind a plain endpoint. */
export function startBaseLab(options: LabOptions = {}): Promise<ChainLab> {
  return startLab(options, {
    network: "base",
    chainId: 8_453,
    usdt: "fde4c96c8593536e31f229ea8f37b2ada2699bb2",
    usdtContract: "UsdtLike",
    startFront: startEvmFront,
  });
}

async function startLab<Front extends RpcFront>(
  options: LabOptions,
  definition: LabDefinition<Front>,
): Promise<ChainLab<Front>> {
  const { network, chainId, usdt, usdtContract, startFront } = definition;
  const anvil = await startAnvil({ chainId, ...options });
  const fronts: Front[] = [];
  const addProvider = async () => {
    const front = await startFront(anvil);
    fronts.push(front);
    return front;
  };
  async function stop(): Promise<void> {
    await Promise.all(fronts.map((front) => front.stop()));
    await anvil.stop();
  }

  try {
    const provider = await addProvider();
    // The last account has no balance, so its transfers fail.
    const payers = anvil.accounts.slice(0, -1).map(bareAddress);
    await placeContracts(anvil, usdt, usdtContract, payers);
    return {
      network,
      chainId,
      provider,
      providerUrl: provider.url,
      anvil,
      tokens: { USDT: usdt, fake: fakeUsdt },
      payers,
      addProvider,
      ...makePayments(anvil, usdt, await anvil.height()),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Sets code and balances. They are part of the next block, which no reorganization may remove. */
async function placeContracts(
  anvil: Anvil,
  usdt: string,
  usdtContract: string,
  payers: readonly string[],
): Promise<void> {
  await anvil.rpc("anvil_setCode", [`0x${usdt}`, runtimeBytecode(usdtContract)]);
  await anvil.rpc("anvil_setCode", [`0x${fakeUsdt}`, runtimeBytecode("FakeUsdt")]);
  await anvil.rpc("anvil_setCode", [`0x${multiSender}`, runtimeBytecode("MultiSender")]);
  for (const owner of [...payers, multiSender]) {
    const slot = mappingSlot(owner, balancesSlot);
    await anvil.rpc("anvil_setStorageAt", [`0x${usdt}`, slot, wordOf(plenty)]);
  }
  await anvil.mine();
}

type Payments = Pick<
  ChainLab,
  | "pay"
  | "payZero"
  | "payFailing"
  | "batchPay"
  | "payTogether"
  | "setTransferFee"
  | "height"
  | "mine"
  | "setNextBlockTime"
  | "reorg"
  | "rollback"
>;

function makePayments(anvil: Anvil, usdt: string, contractsAt: number): Payments {
  const contractOf = (token: LabToken = "USDT") => `0x${token === "USDT" ? usdt : fakeUsdt}`;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one change of the chain at a time, so that a payment never waits for a block that another holds back. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  function payerOf(payment: LabPayment): string {
    const payer = anvil.accounts.slice(0, -1)[payment.from ?? 0];
    if (payer === undefined) throw new Error(`there is no payer ${String(payment.from)}`);
    return payer;
  }

  function transfer(payment: LabPayment, from = payerOf(payment)): Promise<string> {
    const data = encodeCall("transfer(address,uint256)", [payment.to, payment.amount]);
    return anvil.send({ from, to: contractOf(payment.token), data });
  }

  function pay(payment: LabPayment): Promise<MinedTransaction> {
    return inTurn(async () => anvil.receipt(await transfer(payment)));
  }

  async function sparesContracts(blocks: number): Promise<void> {
    if ((await anvil.height()) - blocks >= contractsAt) return;
    throw new Error(`block ${String(contractsAt)} holds the contracts and stays: mine more first`);
  }

  return {
    pay,
    payZero: (to) => pay({ to, amount: 0n }),
    payFailing: (payment) =>
      inTurn(async () => anvil.receipt(await transfer(payment, anvil.accounts.at(-1)), "failed")),
    batchPay: (payments) =>
      inTurn(async () => {
        const [first] = payments;
        if (first === undefined || payments.some((payment) => payment.token !== first.token)) {
          throw new Error("a batch pays one token, to one recipient at least");
        }
        const data = encodeCall("pay(address,address[],uint256[])", [
          contractOf(first.token),
          payments.map((payment) => payment.to),
          payments.map((payment) => payment.amount),
        ]);
        const gas = gasPerTransfer * (payments.length + 2);
        return anvil.receipt(
          await anvil.send({ from: payerOf(first), to: `0x${multiSender}`, data, gas }),
        );
      }),
    payTogether: (payments) =>
      inTurn(async () => {
        const hashes = await anvil.inOneBlock(async () => {
          const sent: string[] = [];
          for (const payment of payments) sent.push(await transfer(payment));
          return sent;
        });
        return Promise.all(hashes.map((hash) => anvil.receipt(hash)));
      }),
    setTransferFee: (basisPoints) =>
      inTurn(async () => {
        const data = encodeCall("setFee(uint256)", [basisPoints]);
        await anvil.receipt(
          await anvil.send({ from: payerOf({ to: "", amount: 0n }), to: contractOf(), data }),
        );
      }),
    height: () => anvil.height(),
    mine: (blocks) => inTurn(() => anvil.mine(blocks)),
    setNextBlockTime: (at) => inTurn(() => anvil.setNextBlockTime(at)),
    reorg: (depth, transactions) =>
      inTurn(async () => {
        await sparesContracts(depth);
        await anvil.reorg(depth, transactions);
      }),
    rollback: (blocks) =>
      inTurn(async () => {
        await sparesContracts(blocks);
        await anvil.rollback(blocks);
      }),
  };
}
