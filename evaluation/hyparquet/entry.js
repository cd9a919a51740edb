// The functions of hyparquet that the site uses
export { asyncBufferFromUrl } from "hyparquet/src/utils.js";
export { parquetMetadataAsync } from "hyparquet/src/metadata.js";
export { parquetReadObjects } from "hyparquet/src/read.js";
