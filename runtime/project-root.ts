import { fileURLToPath } from 'node:url';

/**
 * Path of the project's folder, with a slash at its end: its sources and its bundles in `dist/` both lie one folder below,
 * as this file does.
 */
export const PROJECT_ROOT: string = fileURLToPath(new URL('../', import.meta.url));
