export { makeExportService, type ExportService } from "./service.ts";
