/** The limits of one request. The guard limits the name resolution. */
export interface SenderLimits {
  /** Time to open a connection to a vetted address. */
  readonly connectMs: number;
  readonly tlsMs: number;
  /** Time from the call to the last byte of the response. */
  readonly totalMs: number;
  /** Bytes of a body that are read before the connection is closed; the response still counts. */
  readonly bodyBytesMax: number;
  /** Bytes of a body that are kept. */
  readonly excerptBytesMax: number;
  readonly headerBytesMax: number;
  /** The maximum number of 1xx responses before the final one. */
  readonly interimAnswersMax: number;
  /** How long an idle connection is kept: less than the 5 s after which common servers close theirs. */
  readonly idleMs: number;
  readonly idleConnectionsPerHostMax: number;
}

export const senderLimits: SenderLimits = {
  connectMs: 5_000,
  tlsMs: 5_000,
  totalMs: 15_000,
  bodyBytesMax: 64 * 1_024,
  excerptBytesMax: 4 * 1_024,
  headerBytesMax: 16 * 1_024,
  interimAnswersMax: 16,
  idleMs: 4_000,
  idleConnectionsPerHostMax: 8,
};
