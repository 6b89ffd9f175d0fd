// Ponder's generated types look for the configuration beside the schema.
import config from '../ponder.config.ts';

export default config;
