/** The limits of one request. The time for resolving a name is the guard's. */
export interface SenderLimits {
  /** From the vetted address to an accepted connection. */
  readonly connectMs: number;
  readonly tlsMs: number;
  /** From the call to the answer's last byte. */
  readonly totalMs: number;
  /** How much of a body is read before the connection is ended; the answer counts all the same. */
  readonly bodyBytesMax: number;
  /** How much of it is kept. */
  readonly excerptBytesMax: number;
  readonly headerBytesMax: number;
  /** How many 1xx answers may precede the real one. */
  readonly interimAnswersMax: number;
  /** How long an unused connection is kept: less than the 5 s after which common servers close theirs. */
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
