// The limits are far above what any machine needs: they end only tests that would never end. No test sets its own.
export default {
  import: "tsx/esm",
  timeout: process.env.TILL_PROVE === "1" ? 3_600_000 : 900_000,
  slow: 1_000,
  "forbid-only": true,
  exit: false,
};
