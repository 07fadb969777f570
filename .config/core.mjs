// The files that every command of a feature loads, and all that they import. The build puts this into each file that it
// bundles, so that all of them are in the same chunks, which esbuild merges into one: Node takes a millisecond for each
// file that it loads, whatever its size. It is also part of the help, so nothing here imports a large package.
import "../src/http/declare/command.ts";
import "../src/cli/features.ts";
import "../src/cli/look-first.ts";
import "../src/cli/operator.ts";
import "../src/cli/organization.ts";
import "../src/cli/terminal/output.ts";
import "../src/cli/terminal/prompts.ts";
import "../src/cli/terminal/progress.ts";
import "../src/cli/terminal/text-input.ts";
import "../src/cli/terminal/watch.ts";
import "../src/compose/servers.ts";
import "../src/compose/store-location.ts";
import "../src/make-app.ts";
import "../src/platform/chain/looks-like-secret.ts";
import "../src/platform/chain/networks.ts";
import "../src/platform/chain/sandbox/store.ts";
import "../src/platform/database/open.ts";
import "../src/platform/database/sqlite/errors.ts";
import "../src/platform/database/sqlite/standalone.ts";
import "../src/platform/events/catalogue.ts";
import "../src/platform/logger/redact.ts";
import "../src/platform/secrets/passwords.ts";
