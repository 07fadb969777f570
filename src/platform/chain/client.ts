import type { Instant } from "../../kernel/clock.ts";

/** 20 bytes as 40 lower-case hex digits without 0x: the canonical form everywhere inside. */
export type Address = string;

/** A block, as far as Till needs it. */
export interface Head {
  readonly height: number;
  /** 64 lower-case hex digits without 0x. */
  readonly hash: string;
  /** The time the block itself states. */
  readonly time: Instant;
}

/** The newest block and the newest final block, as one provider gives them in one answer. */
export interface Heads {
  readonly latest: Head;
  readonly finalized: Head;
  /** The block at the height of the known final block; null where none was asked for or the provider lacks it. */
  readonly known: Head | null;
}

/** The chain as it was scanned, against which a provider's heads are checked. */
export interface KnownChain {
  readonly tipHeight: number;
  /** The newest final block that was scanned; its time is 0 where no provider gave one. */
  readonly final: Head;
}

/** One Transfer event of a token contract. */
export interface TransferLog {
  /** 64 lower-case hex digits without 0x. */
  readonly transactionHash: string;
  /** The event's place among all of its block, so a reorganisation may change it. */
  readonly logIndex: number;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** Null where the node does not say it with the log; `blocks` tells it then. */
  readonly blockTime: Instant | null;
  readonly contract: Address;
  readonly from: Address;
  readonly to: Address;
  /** In the token's smallest unit, always above zero. */
  readonly amount: bigint;
}

/** What became of a transaction that is in a block. */
export interface Receipt {
  readonly transactionHash: string;
  /** False: it is in the block and had no effect; `transfers` is empty then. */
  readonly succeeded: boolean;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** The transfers of every contract, allowed or not: the caller looks for its own. */
  readonly transfers: readonly TransferLog[];
}

/** A range of blocks, both ends included, and whose transfers are wanted. */
export interface TransferQuery {
  readonly from: number;
  readonly to: number;
  readonly contracts: readonly Address[];
  /** Null: transfers to anybody. */
  readonly recipients: readonly Address[] | null;
}

/**
 * One provider of one network: a node reached over JSON-RPC, or the sandbox. Every method throws `ProviderError` when
 * the provider cannot be used; an answer that comes back has been checked for form, not for truth.
 */
export interface ChainClient {
  /** The network's id, such as `tron`. */
  readonly network: string;
  /** What operators are shown: the provider's origin, never a path or a key. */
  readonly provider: string;
  chainId(): Promise<number>;
  /**
   * The tip and the last block that never changes, with the block at the height of `known.final`, asked together. A
   * pool of providers prefers one whose tip is not below `known.tipHeight`.
   */
  heads(known?: KnownChain): Promise<Heads>;
  /**
   * Every transfer above zero in the range, in the order of the chain, and the tip read again in the same batch: where
   * it differs from the tip the caller knows, the answers may come from two forks and are asked for again.
   */
  transfers(query: TransferQuery): Promise<{ readonly logs: TransferLog[]; readonly latest: Head }>;
  /**
   * The transfers of one block, read from its receipts. A node whose index of logs is broken answers `transfers` with
   * nothing and this in full. Null where the provider does not offer it.
   */
  blockTransfers(height: number, contracts: readonly Address[]): Promise<TransferLog[] | null>;
  /** The blocks at these heights in the same order; null for one that the provider does not have. */
  blocks(heights: readonly number[]): Promise<(Head | null)[]>;
  /** Null: the provider knows no block with this transaction. */
  receipt(transactionHash: string): Promise<Receipt | null>;
  /** The number of decimals that a token contract states. */
  decimals(contract: Address): Promise<number>;
}
