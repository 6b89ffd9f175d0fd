import { fileURLToPath } from 'node:url';

/**
 * Path of the project's folder, with a slash at its end. This file is one folder below it, both as a source and in a
 * bundle of `dist/`.
 */
export const PROJECT_ROOT: string = fileURLToPath(new URL('../', import.meta.url));
