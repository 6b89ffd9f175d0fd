import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { countTests } from '../harness/count-reporter.ts';
import { timeOf } from '../harness/slowest-files.ts';
import type { Failure, RunResult } from './report.ts';

/** Writes what came of a run to the file that `STEADY_RESULT` names, for `npm run test:steady`. */
export default class RunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message?: string }[]): void {
    const result: RunResult = {
      counts: countTests(modules, unhandled.length),
      files: modules.map(timeOf),
      failures: [
        ...modules.flatMap(failuresOf),
        ...unhandled.map(({ message = '' }) => ({ path: '', test: 'an error outside of tests', message })),
      ],
    };
    writeFileSync(process.env.STEADY_RESULT ?? '', JSON.stringify(result));
  }
}

function failuresOf(module: TestModule): Failure[] {
  const path = module.relativeModuleId;
  const failed = [...module.children.allTests('failed')].map((test) => ({ path, ...describe(test) }));
  const own = module.errors().map(({ message }) => ({ path, test: 'the file itself', message }));
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map(({ message }) => ({ path, test: suite.fullName, message })),
  );
  return [...failed, ...own, ...suites];
}

const describe = (test: TestCase): Omit<Failure, 'path'> => ({
  test: test.fullName,
  message: (test.result().errors ?? []).map(({ message }) => message).join('\n'),
});
