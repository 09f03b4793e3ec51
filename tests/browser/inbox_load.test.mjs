// 2,000 questions wait: the inbox is as quick as with ten.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTab, startBrowser, startServer } from './world.mjs';

const kAsks = 2000;
let browser;
let server;
before(async () => {
  browser = await startBrowser();
  server = await startServer({ agents: { billing: {}, 'release-train': {} } });
  const options = [{ label: 'Approve', recommended: true }, 'Refuse'];
  let next = 0;
  const askAll = async () => {
    for (let i = next++; i < kAsks; i = next++) {
      await server.ask({ question: `May invoice ${i} be paid to supplier ${i % 97}?`, header: 'Invoice', options }, { amount: i },
        ['caller', 'billing', 'release-train'][i % 3]);
    }
  };
  await Promise.all(Array.from({ length: 16 }, askAll));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('2,000 pending: first paint under 1 s, a filter under 100 ms, and the list scrolls to its end', { timeout: 60_000 }, async (context) => {
  const tab = await openTab(browser, { viewport: { width: 1280, height: 800 } });
  const { page } = tab;
  const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  try {
    await page.addInitScript(() => {
      new MutationObserver((changes, observer) => {
        if (!document.querySelector('.row')) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
      }).observe(document, { childList: true, subtree: true });
    });
    // Several times: a machine that does something else too makes any one of them late.
    const paints = [];
    for (let i = 0; i < 5; i += 1) {
      await page.goto(server.url);
      paints.push(await (await page.waitForFunction(() => window.painted)).jsonValue());
    }
    await page.getByText('2000 waiting', { exact: true }).waitFor();
    assert.equal(await page.title(), '(2000) Inbox · Holdpoint');

    // From the key to the frame that shows what it brought.
    const took = (text) => page.evaluate(async (words) => {
      const search = document.querySelector('input[type=search]');
      const start = performance.now();
      search.value = words;
      search.dispatchEvent(new Event('input'));
      await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
      return performance.now() - start;
    }, text);
    const times = [];
    for (const text of ['supplier 42', '', 'invoice 1', '', 'zebra', '', 'approve', '', 'billing']) times.push(await took(text));
    await page.getByLabel('Search').fill('supplier 42?');
    assert.match(await page.locator('.count').textContent(), /^2[01] of 2000 waiting$/);
    await page.getByLabel('Search').fill('');

    const frames = await page.evaluate(async () => {
      const pane = document.querySelector('.list-pane');
      const gaps = [];
      let last = performance.now();
      while (document.querySelectorAll('.row').length < 2000) {
        pane.scrollTop += 1500;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        gaps.push(now - last);
        last = now;
      }
      return gaps;
    });
    const measured = `first paints ${paints.map(Math.round)} ms, filters ${times.map(Math.round)} ms, `
      + `frames while scrolling ${Math.round(median(frames))} ms, at most ${Math.round(Math.max(...frames))} ms`;
    assert.ok(median(paints) < 1000, measured);
    assert.ok(median(times) < 100, measured);
    assert.ok(median(frames) < 50, measured);
    context.diagnostic(measured);
    await page.locator('.row').last().scrollIntoViewIfNeeded();
    assert.match(await page.locator('.row').last().textContent(), /May invoice \d+ be paid/);

    // From its very end a step up and an answer leave no gap.
    await page.locator('.row').last().click();
    await page.keyboard.press('k');
    await page.keyboard.press('1');
    await page.keyboard.press('Enter');
    await page.getByText('1999 waiting', { exact: true }).waitFor();
    assert.ok(await page.locator('.row').last().evaluate((link) => link === document.activeElement), 'the focus is on the next row');
    assert.deepEqual(tab.complaints, []);
  } finally {
    await tab.close();
  }
});
