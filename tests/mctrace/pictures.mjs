// SPDX-License-Identifier: GPL-2.0
// usage: pictures.mjs MODULES CHROMIUM FLAME.svg FOLDED SPEEDSCOPE.json SHOTS
// Looks at a flame graph, and at what speedscope makes of an export of the same recording, in Chromium:
// clicks, searches, and compares with the folded stacks and the export. MODULES is where npm has
// installed playwright-core and speedscope; SHOTS a folder for screenshots. Prints TAP.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import fs from 'node:fs';
import path from 'node:path';

const [modules, program, flame, folded, exported, shots] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules) + '/')('playwright-core');
const WIDTH = 1180;		// of the whole graph, in the picture's units
let nr = 0, failed = 0;

function check(name, wrong) {
	nr++;
	if (wrong.length)
		failed++;
	console.log(`${wrong.length ? 'not ok' : 'ok'} ${nr} - ${name}`);
	for (const what of wrong.slice(0, 8))
		console.log(`# ${what}`);
}

function near(name, is, wanted, by) {
	return Math.abs(is - wanted) <= by ? [] : [`${name}: ${is}, not ${wanted}`];
}

// --- the flame graph ---

// Of all frames that are shown: name, where, how wide.
function frames(page) {
	return page.evaluate(() => [...document.querySelectorAll('g.f')]
		.filter(frame => frame.style.display !== 'none')
		.map(frame => {
			const rect = frame.querySelector('rect');

			return { name: frame.dataset.n, x: +rect.getAttribute('x'),
				 y: +rect.getAttribute('y'), width: +rect.getAttribute('width'),
				 text: frame.querySelector('text').textContent };
		}));
}

// Each frame but the lowest lies over one that is as wide or wider; between two there is a gap of 0.3.
function unsupported(all) {
	const rows = [...new Set(all.map(frame => frame.y))].sort((a, b) => b - a);

	return all.filter(frame => frame.y !== rows[0] && !all.some(below =>
		below.y === rows[rows.indexOf(frame.y) - 1] && below.x <= frame.x + 0.01 &&
		below.x + below.width >= frame.x + frame.width - 0.31))
		.map(frame => `${frame.name} at ${frame.x}, ${frame.y} hangs in the air`);
}

// In how much of all times, in percent, a function was in the stack.
function shareOf(name) {
	let all = 0, mine = 0;

	for (const line of fs.readFileSync(folded, 'utf8').trimEnd().split('\n')) {
		const at = line.lastIndexOf(' '), ns = +line.slice(at + 1);

		all += ns;
		if (line.slice(0, at).split(';').includes(name))
			mine += ns;
	}
	return 100 * mine / all;
}

async function search(page, what) {
	await page.fill('#search', what);
	return page.textContent('#found');
}

async function flameGraph(page) {
	const asked = [];

	page.on('request', request => asked.push(request.url()));
	await page.goto(pathToFileURL(flame).href);
	const all = await frames(page);
	check('the flame graph has frames, each on another', all.length > 20 ? unsupported(all) : ['few']);
	check('it asks nobody for anything', asked.slice(1));
	await page.screenshot({ path: path.join(shots, 'flame.png') });

	const some = all.filter(frame => frame.width > 60 && frame.width < WIDTH / 2)
		.sort((a, b) => a.width - b.width)[0];
	await page.locator(`g.f:has(rect[x="${some.x}"][y="${some.y}"]) rect`).click();
	const wide = await frames(page);
	const zoomed = wide.find(frame => frame.name === some.name && frame.y === some.y);
	check('a click makes a frame as wide as all', [
		...near(some.name, zoomed ? zoomed.width : 0, WIDTH, 1), ...unsupported(wide),
		...(wide.length < all.length ? [] : ['all others are still there'])]);
	check('there is its name, whole', zoomed && zoomed.text === some.name ? [] : [some.name]);
	await page.screenshot({ path: path.join(shots, 'flame-zoomed.png') });
	await page.click('#reset');
	const back = await frames(page);
	check('and another leads back', JSON.stringify(back) === JSON.stringify(all) ? [] : ['it differs']);

	// What is too narrow to be drawn is not found.
	check('a search says how much of all has it', near(some.name,
		parseFloat(await search(page, `^${some.name}$`)), shareOf(some.name), 0.2));
	const hits = await page.evaluate(() => [...document.querySelectorAll('g.hit')].map(f => f.dataset.n));
	check('and colours it', hits.length && hits.every(name => name === some.name) ? [] : hits);
	check('what is no regular expression is said to be none',
		await search(page, '(') === 'no regular expression' ? [] : ['it is not']);
}

// --- speedscope ---

// Of the first profile, by name: ns without what was called.
function selfTimes() {
	const scope = JSON.parse(fs.readFileSync(exported, 'utf8'));
	const profile = scope.profiles[0], stack = [], self = new Map();
	let last = profile.startValue;

	for (const event of profile.events) {
		if (stack.length) {
			const name = scope.shared.frames[stack.at(-1)].name;

			self.set(name, (self.get(name) || 0) + event.at - last);
		}
		last = event.at;
		if (event.type === 'O')
			stack.push(event.frame);
		else
			stack.pop();
	}
	return { profiles: scope.profiles, self };
}

// "72.61ms (36%)" is at least so much, and how exactly is it told?
function shown(text) {
	const [, number, unit] = /^([\d.]+)(ns|µs|ms|s)/.exec(text) || [, NaN, 's'];
	const scale = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[unit];

	return [number * scale, 0.0051 * scale];
}

async function speedscope(page) {
	const data = fs.readFileSync(exported).toString('base64');
	const source = path.join(shots, 'loaded.js');
	const errors = [];

	fs.writeFileSync(source, `speedscope.loadFileFromBase64("recording.json", "${data}")`);
	page.on('pageerror', error => errors.push(error.message));
	await page.goto(pathToFileURL(path.resolve(modules,
		'node_modules/speedscope/dist/release/index.html')).href + `#localProfilePath=${source}`);
	const { profiles, self } = selfTimes();
	await page.getByText(`(1/${profiles.length})`).waitFor({ timeout: 20000 });
	await page.waitForTimeout(1000);
	await page.screenshot({ path: path.join(shots, 'speedscope.png') });
	check('speedscope finds a profile for each task', errors);
	await page.getByText('Sandwich').click();
	await page.waitForTimeout(1000);
	const rows = await page.evaluate(() => [...document.querySelectorAll('tr')]
		.map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))
		.filter(row => row.length === 3 && /^[\d.]+(ns|µs|ms|s) /.test(row[0])));
	check('its times are those of the export', [
		...(rows.length > 20 ? [] : [`${rows.length} rows`]),
		...rows.flatMap(row => near(row[2], shown(row[1])[0], self.get(row[2]) ?? NaN, shown(row[1])[1]))]);
}

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });

console.log('TAP version 13\n1..10');
try {
	const view = { viewport: { width: 1300, height: 900 } };

	await flameGraph(await browser.newPage(view));
	await speedscope(await browser.newPage(view));
} finally {
	await browser.close();
}
process.exit(failed || nr !== 10 ? 1 : 0);
