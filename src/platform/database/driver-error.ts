/** Returns the driver's error inside one of Sequelize, without the statement and the values, which Sequelize adds to it. */
export function driverError(error: unknown): unknown {
  if (!(error instanceof Error && "parent" in error && error.parent instanceof Error)) return error;
  const { parent } = error;
  Reflect.deleteProperty(parent, "sql");
  Reflect.deleteProperty(parent, "parameters");
  return parent;
}
