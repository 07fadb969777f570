import { createSecretKey } from "node:crypto";
import { deriveKey } from "../../src/platform/secrets/server-secret.ts";

/** The server's secret of every store that a suite takes, for other processes on it. */
export const secret = "a secret of the tests, longer than thirty-two bytes";

/** The same as the program holds it. */
export const serverSecret = createSecretKey(Buffer.from(secret));

/** The key of the audit seals in those stores. */
export const auditKey = deriveKey(serverSecret, "audit-seals");
