// One line a case, the reasons of failures in full, and the summary line that tools/test reads.
import path from 'node:path';

export default async function* report(events) {
  let passed = 0;
  let failed = 0;
  let told = '';
  for await (const { type, data } of events) {
    // Node's own totals count files too; ours are in the last line.
    const isTotal = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(data?.message ?? '');
    if (type === 'test:diagnostic' && !isTotal) yield `     ${data.message}\n`;
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if (type !== 'test:pass' && type !== 'test:fail') continue;

    // Node also reports each file and suite as a case; that tells something new only when it broke by itself.
    const isGroup = data.name.endsWith('.test.mjs') || data.details?.type === 'suite';
    const reason = data.details?.error;
    if (isGroup && (type === 'test:pass' || reason?.failureType === 'subtestsFailed')) continue;
    const label = `${data.file ? `${path.basename(data.file).replace(/(\.test)?\.mjs$/, '')}: ` : ''}${data.name}`;
    const took = `(${Math.round(data.details?.duration_ms ?? 0)} ms)`;
    // A case that was skipped or put off has proved nothing.
    if (type === 'test:pass' && data.skip === undefined && data.todo === undefined) {
      passed += 1;
      yield `ok   ${label} ${took}\n`;
    } else {
      failed += 1;
      const cause = reason?.cause ?? reason;
      const story = String(cause?.stack ?? cause ?? 'skipped');
      // A broken set-up fails every case of its file in the same words.
      yield `FAIL ${label} ${took}\n${story === told ? '     for the same reason' : story.replace(/^/gm, '     ')}\n`;
      told = story;
    }
  }
  yield `${passed} passed, ${failed} failed\n`;
}
