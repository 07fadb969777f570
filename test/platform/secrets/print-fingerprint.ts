import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { fingerprint, loadServerSecret } from "../../../src/platform/secrets/server-secret.ts";

/** A program that loads the secret of a data folder and prints its fingerprint. */
const dataFolder = process.argv[2] ?? "";
const source = { text: null, file: null, dataFolder, randomBytes: systemRandom };
console.log(fingerprint(await loadServerSecret(source)));
