import { CHECKS } from './checks.ts';
import { readProject } from './project.ts';

const project = readProject();
for (const [what, check] of Object.entries(CHECKS)) {
  const faults = check(project);
  if (faults.length === 0) continue;
  process.stderr.write(`${what}: no\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
  process.exitCode = 1;
}
