// Fails an install without a working sqlite3, with one line that says what it needs. For this message sqlite3 is an
// optional dependency: npm runs the scripts of dependencies before those of this package, and a required sqlite3 would
// end the install with its own error.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

try {
  createRequire(import.meta.url)("sqlite3");
} catch {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const needs = folder.includes(" ")
    ? `compiling it does not work in a folder whose path contains a space (${folder}). Move this folder`
    : "compiling it needs Python 3, make and a C++ compiler (apt-get install python3 make g++). Install them";
  console.error(
    `sqlite3 is not installed: no prebuilt one was found for this system, and ${needs}, then run npm ci again; with --foreground-scripts it shows the compiler's output.`,
  );
  process.exit(1);
}
