import type { Instant } from "../../src/kernel/clock.ts";
import { bareAddress, encodeCall, mappingSlot, wordOf } from "./abi.ts";
import {
  startAnvil,
  type Anvil,
  type MinedTransaction,
  type ReorganisedTransactions,
} from "./anvil.ts";
import { runtimeBytecode } from "./contracts/compiled.ts";
import { startEvmFront, type RpcFront } from "./rpc-front.ts";
import { startTronFront, type TronFront } from "./tron-front.ts";

export type LabToken = "USDT" | "fake";

export interface LabPayment {
  /** The network's USDT, or a contract of another address with the same name whose logs look alike (USDT). */
  readonly token?: LabToken;
  /** 20 bytes as hexadecimal, with or without 0x. */
  readonly to: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Which of the payers 0–8 pays (0). */
  readonly from?: number;
}

export interface LabOptions {
  /** The time of block 0, a whole second; the present when absent. */
  readonly genesisTime?: Instant;
  /** Every block comes this many seconds after its parent; by the machine's clock when absent. */
  readonly blockSeconds?: number;
  /** Starts as high as real chains are; there is nothing below, so that `finalized` needs blocks first (0). */
  readonly firstBlock?: number;
  /** Where `finalized` lags the tip by twice this many blocks; not on TRON, where it lags by 19 (32). */
  readonly slotsInAnEpoch?: number;
}

/** A chain of its own with the network's real chain id and USDT at its real address, and payers who own plenty. */
export interface ChainLab<Front extends RpcFront = RpcFront> {
  /** As in config/networks.yaml. */
  readonly network: string;
  readonly chainId: number;
  /** What TILL_<NETWORK>_RPC_URLS is set to. */
  readonly providerUrl: string;
  /** The provider behind that URL: its faults and its request counts. */
  readonly provider: Front;
  readonly anvil: Anvil;
  /** Contract addresses: 40 hexadecimal digits. */
  readonly tokens: Readonly<Record<LabToken, string>>;
  /** The payers' addresses: 40 hexadecimal digits. */
  readonly payers: readonly string[];
  /** Another provider of the same chain, for failover and disagreement. It stops with the lab. */
  addProvider(): Promise<Front>;
  /** Pays in a block of its own. */
  pay(payment: LabPayment): Promise<MinedTransaction>;
  /** A transfer of nothing, which leaves a log all the same: how addresses are poisoned. */
  payZero(to: string): Promise<MinedTransaction>;
  /** A transfer beyond the payer's balance: mined, failed, without a log. */
  payFailing(payment: LabPayment): Promise<MinedTransaction>;
  /** Many transfers in one transaction, as an exchange pays out. All of the same token. */
  batchPay(payments: readonly LabPayment[]): Promise<MinedTransaction>;
  /** Many transactions in one block. */
  payTogether(payments: readonly LabPayment[]): Promise<MinedTransaction[]>;
  /** What USDT keeps of every transfer from now on, in basis points. */
  setTransferFee(basisPoints: bigint): Promise<void>;
  height(): Promise<number>;
  mine(blocks?: number): Promise<void>;
  /** The time of the next block, a whole second, not before the tip's. */
  setNextBlockTime(at: Instant): Promise<void>;
  /** Replaces the last blocks by as many others; their transactions are dropped unless told otherwise. */
  reorg(depth: number, transactions?: ReorganisedTransactions): Promise<void>;
  /** Takes the last blocks away, so that the tip goes back. */
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
/** One log, two storage writes and the calldata of an entry. */
const gasPerTransfer = 60_000;

/** TRON's mainnet behind a java-tron-like endpoint. */
export function startTronLab(options: LabOptions = {}): Promise<ChainLab<TronFront>> {
  return startLab(options, {
    network: "tron",
    chainId: 728_126_428,
    usdt: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
    usdtContract: "UsdtLike",
    startFront: (anvil) => startTronFront(anvil),
  });
}

/** Ethereum's mainnet behind a plain endpoint. */
export function startEthereumLab(options: LabOptions = {}): Promise<ChainLab> {
  return startLab(options, {
    network: "ethereum",
    chainId: 1,
    usdt: "dac17f958d2ee523a2206206994597c13d831ec7",
    usdtContract: "UsdtLike",
    startFront: startEvmFront,
  });
}

/** BNB Smart Chain behind a plain endpoint: its USDT has 18 decimals. */
export function startBscLab(options: LabOptions = {}): Promise<ChainLab> {
  return startLab(options, {
    network: "bsc",
    chainId: 56,
    usdt: "55d398326f99059ff775485246999027b3197955",
    usdtContract: "UsdtLike18",
    startFront: startEvmFront,
  });
}

/** Base's mainnet, a layer 2, behind a plain endpoint. */
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
    // The last account stays poor: its transfers fail.
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

/** Puts code and balances where they belong. They are part of the next block, which no reorganisation may take away. */
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

  /** One change of the chain at a time, so that a payment never waits for a block that another one holds back. */
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
