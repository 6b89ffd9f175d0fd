import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** What reaches one of these starts a service or a process. */
const SERVICES = [
  /^local\/(services|processes)\//,
  /^devnet\/(anvil|chromium|compile-code|postgres-replica)[.]ts$/,
  /^test\/harness\/(database|redis)[.]ts$/,
];
/** What a test file itself does. */
const OWN_SERVICES = /from '(node:child_process|execa)'|inject\(|runMain|spawn/;
/** Types alone need nothing. */
const IMPORT = /^(?:import|export|\}).*'([.][^']+(?<![.]d)[.]ts)';$/gm;

/** Paths of the test files of a project, from its root. */
export interface SplitTests {
  /** They need no services. */
  readonly unit: string[];
  /** By what they import, they need Postgres, Redis, a chain or processes of their own. */
  readonly services: string[];
}

export function splitTests(root: string): SplitTests {
  const needed = new Map<string, boolean>();
  const needsServices = (file: string): boolean => {
    const known = needed.get(file);
    if (known !== undefined) return known;
    // Files that import each other in a circle need what the rest of the circle needs.
    needed.set(file, false);
    const imported = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) => path);
    const needs =
      SERVICES.some((service) => service.test(file)) ||
      imported.some((path) => needsServices(normalize(join(dirname(file), path))));
    needed.set(file, needs);
    return needs;
  };
  const unit: string[] = [];
  const services: string[] = [];
  for (const file of testFiles(root)) {
    const isService = OWN_SERVICES.test(readFileSync(join(root, file), 'utf8')) || needsServices(file);
    (isService ? services : unit).push(file);
  }
  return { unit, services };
}

function testFiles(root: string): string[] {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .map(({ name }) => name);
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))))
    .filter((path) => path.endsWith('.test.ts'));
}
