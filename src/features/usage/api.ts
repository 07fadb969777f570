import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { figuresWorker } from "./roll-up.ts";

export const usageModule: FeatureModule = {
  workers: (app) => [figuresWorker(app)],
};
