// Rules of this project.

/** Refuses `new Date()`, which reads the machine's clock. */
const noCurrentDate = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.name !== "Date" || node.arguments.length > 0) return;
      context.report({ node, message: "Time is passed in: take a Clock (src/kernel/clock.ts)." });
    },
  }),
};

/** Refuses `{ ...{ name } }`. oxlint's `no-useless-spread` also refuses `...(isGiven ? { name } : {})`. */
const noLiteralSpread = {
  create: (context) => ({
    "ObjectExpression > SpreadElement > ObjectExpression"(node) {
      const message = "Write the properties themselves, without a spread object around them.";
      context.report({ node, message });
    },
  }),
};

export default {
  meta: { name: "till" },
  rules: { "no-current-date": noCurrentDate, "no-literal-spread": noLiteralSpread },
};
