export type { Config, ConfiguredNetwork, LoadedConfig, ReportedSetting } from "./config.ts";
export { ConfigError } from "./config.ts";
export type { LoadOptions } from "./load.ts";
export { findStore, loadConfig } from "./load.ts";
export { networkSettings, networkVariable } from "./network-settings.ts";
export { allOptions, commonOptions, type SettingOption } from "./options.ts";
export { settingsReference } from "./reference.ts";
export type { BillingPolicy, Plan, PlanCatalog } from "./plans.ts";
export type { Mode } from "./setting.ts";
