import type { Head, TransferLog } from "../../../src/platform/chain/client.ts";
import { eventTopic } from "./abi.ts";
import type { FakeChain } from "./fake-chain.ts";
import { honest, Refusal, toldBy, type Faults, type ToldReceipt } from "./fake-provider.ts";
import { hexNumber, JsonRpcRefusal, type JsonRpcCall } from "./json-rpc.ts";
import { startRpcFront, type RpcFront } from "./rpc-front.ts";

/** An EVM node of a fake chain over HTTP. */
export interface FakeNode extends RpcFront {
  readonly view: Faults;
}

/** The event of EIP-20. */
const transferTopic = eventTopic("Transfer(address,address,uint256)");
const word = (text: string) => `0x${text.padStart(64, "0")}`;

/** Starts a node of the chain on a free port: its faults are those of RpcFront and of its `view`. */
export async function startFakeNode(
  chain: FakeChain,
  given: Partial<Faults> = {},
): Promise<FakeNode> {
  const view: Faults = { ...honest(chain.chainId), ...given };
  const told = toldBy(chain, view);

  function answer({ method, params: [first] }: JsonRpcCall): unknown {
    switch (method) {
      case "eth_chainId":
        return hexNumber(view.chainId);
      case "eth_call":
        return word(view.decimals.toString(16));
      case "eth_getBlockByNumber":
        if (first === "latest") return written(told.latest());
        if (first === "finalized" && view.withoutFinal) break;
        if (first === "finalized") return written(told.finalized());
        return written(told.block(Number(first)));
      case "eth_getLogs":
        return getLogs(first as Record<string, unknown>).map(writtenLog);
      case "eth_getTransactionReceipt": {
        const receipt = told.receipt((first as string).slice(2));
        return receipt === null ? null : writtenReceipt(receipt);
      }
      case "eth_getBlockReceipts":
        if (view.withoutBlockReceipts) break;
        return told.receiptsOfBlock(Number(first)).map(writtenReceipt);
    }
    throw new JsonRpcRefusal(-32_601, `the method ${method} does not exist/is not available`);
  }

  function getLogs(filter: Record<string, unknown>): readonly TransferLog[] {
    const { blockHash, fromBlock, toBlock, address, topics } = filter;
    const [event, , recipients] = topics as [string, null?, string[]?];
    if (event !== transferTopic) return [];
    const named = blockHash === undefined ? null : told.heightOf((blockHash as string).slice(2));
    if (blockHash !== undefined && named === null) return [];
    return told.transfers({
      from: named ?? Number(fromBlock),
      to: named ?? Number(toBlock),
      contracts: [address as string | string[]].flat().map((one) => one.slice(2)),
      recipients: recipients?.map((topic) => topic.slice(-40)) ?? null,
    });
  }

  const front = await startRpcFront({
    path: "/",
    open: () => async (call) => {
      await Promise.resolve();
      try {
        return answer(call);
      } catch (error) {
        throw error instanceof Refusal ? new JsonRpcRefusal(error.code, error.message) : error;
      }
    },
  });
  return { ...front, view };
}

function written(head: Head | null): object | null {
  if (head === null) return null;
  const { height, hash, time } = head;
  return { number: hexNumber(height), hash: `0x${hash}`, timestamp: hexNumber(time / 1_000) };
}

function writtenLog(log: TransferLog): object {
  return {
    address: `0x${log.contract}`,
    topics: [transferTopic, word(log.from), word(log.to)],
    data: word(log.amount.toString(16)),
    blockNumber: hexNumber(log.blockHeight),
    blockHash: `0x${log.blockHash}`,
    ...(log.blockTime === null ? {} : { blockTimestamp: hexNumber(log.blockTime / 1_000) }),
    transactionHash: `0x${log.transactionHash}`,
    logIndex: hexNumber(log.logIndex),
    removed: false,
  };
}

function writtenReceipt(receipt: ToldReceipt): object {
  return {
    transactionHash: `0x${receipt.transactionHash}`,
    blockNumber: hexNumber(receipt.blockHeight),
    blockHash: `0x${receipt.blockHash}`,
    status: receipt.succeeded ? "0x1" : "0x0",
    logs: receipt.transfers.map(writtenLog),
  };
}
