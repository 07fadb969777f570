import type { App, InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { ChainClient } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { ChainAlarms } from "../../platform/chain/state/alarms.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { LeaseGuard } from "./watcher/recorder.ts";

/** The calls of payments to refunds, which depend on them. src/hooks.ts assigns them. */
export interface PaymentHooks {
  /** Rejects the requested refunds of payments that no longer have the surplus for them. */
  withdrawRefunds(
    tx: Tx,
    app: InTx,
    at: Instant,
    paymentIds: readonly Id<"payment">[],
  ): Promise<void>;
  /**
   * Examines a bounded batch of due refunds, after a scan of the watcher and under its lease. Returns true if more may be
   * due.
   */
  examineRefunds(app: App, asked: AskedNetwork, guard: LeaseGuard): Promise<boolean>;
}

/** A network with its providers, which are asked about transactions. */
export interface AskedNetwork {
  readonly network: Network;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly alarms?: ChainAlarms;
}
