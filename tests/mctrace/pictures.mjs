// SPDX-License-Identifier: GPL-2.0
// usage: pictures.mjs MODULES CHROMIUM FLAME.svg OFF-CPU.svg FOLDED SPEEDSCOPE.json SHOTS
// Looks at flame graphs without and with the time off the CPU, and at what speedscope makes of an export of the same recording, in Chromium:
// clicks, searches, chooses, and compares with the folded stacks and the export. MODULES is where npm has
// installed playwright-core and speedscope; SHOTS a folder for screenshots. Prints TAP.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import fs from 'node:fs';
import path from 'node:path';

const [modules, program, flame, offCpu, folded, exported, shots] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules) + '/')('playwright-core');
const WIDTH = 1300;		// of the window, and so of the whole graph
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
		.map((frame, nr) => {
			const { x, y, width } = frame.querySelector('rect').getBoundingClientRect();

			return { nr, name: frame.dataset.n, x, y, width, shown: frame.style.display !== 'none',
				 text: frame.querySelector('text').textContent,
				 title: frame.querySelector('title').textContent };
		}).filter(frame => frame.shown));
}

// Each frame but the lowest lies over one that is as wide or wider, up to what is rounded.
function unsupported(all) {
	const rows = [...new Set(all.map(frame => frame.y))].sort((a, b) => b - a);

	return all.filter(frame => frame.y !== rows[0] && !all.some(below =>
		below.y === rows[rows.indexOf(frame.y) - 1] && below.x <= frame.x + 0.05 &&
		below.x + below.width >= frame.x + frame.width - 0.05))
		.map(frame => `${frame.name} at ${frame.x}, ${frame.y} hangs in the air`);
}

// Each stack, and its ns; what is off the CPU ends with OFF.
const OFF = '[off CPU]';
const stacks = fs.readFileSync(folded, 'utf8').trimEnd().split('\n').map(line => {
	const at = line.lastIndexOf(' ');

	return { names: line.slice(0, at).split(';'), ns: +line.slice(at + 1) };
});

function sum(which) {
	return stacks.filter(which).reduce((ns, stack) => ns + stack.ns, 0);
}

const isOnCpu = stack => stack.names.at(-1) !== OFF;

// In how much of the time on a CPU, in percent, a function was in the stack.
function shareOf(name) {
	return 100 * sum(stack => isOnCpu(stack) && stack.names.includes(name)) / sum(isOnCpu);
}

function escaped(name) {
	return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

// "kfree: 1.250 ms, ...": ns, and how exactly they are told.
function amountOf(frame) {
	const [, number, unit] = /^: ([\d.]+) (ns|us|ms|s)/.exec(frame.title.slice(frame.name.length));
	const scale = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit];

	return [number * scale, 0.51 * scale / 10 ** (number.split('.')[1] || '').length];
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
	await page.locator('g.f').nth(some.nr).locator('rect').click();
	const wide = await frames(page);
	const zoomed = wide.find(frame => frame.name === some.name && frame.y === some.y);
	check('a click makes a frame as wide as all', [
		...near(some.name, zoomed ? zoomed.width : 0, WIDTH, 1), ...unsupported(wide),
		...(zoomed.title.includes(' 100.00 % of what is shown') ? [] : [zoomed.title]),
		...(wide.length < all.length ? [] : ['all others are still there'])]);
	check('there is its name, whole', zoomed && zoomed.text === some.name ? [] : [some.name]);
	await page.screenshot({ path: path.join(shots, 'flame-zoomed.png') });
	await page.click('#reset');
	const back = await frames(page);
	check('and another leads back', JSON.stringify(back) === JSON.stringify(all) ? [] : ['it differs']);

	// What is too narrow to be drawn is not found.
	check('a search says how much of all has it', near(some.name,
		parseFloat(await search(page, `^${escaped(some.name)}$`)), shareOf(some.name), 0.2));
	const hits = await page.evaluate(() => [...document.querySelectorAll('g.hit')].map(f => f.dataset.n));
	check('and colours it', hits.length && hits.every(name => name === some.name) ? [] : hits);
	check('what is no regular expression is said to be none',
		await search(page, '(') === 'no regular expression' ? [] : ['it is not']);
	await search(page, '');
}

// The window's width, tasks and CPUs.
async function chosen(page) {
	await page.goto(pathToFileURL(flame).href);
	await page.setViewportSize({ width: 700, height: 900 });
	await page.waitForTimeout(500);
	const narrow = await frames(page);
	check('it is as wide as the window', [...near('all', narrow[0].width, 700, 1), ...unsupported(narrow)]);
	await page.setViewportSize({ width: WIDTH, height: 900 });

	const tasks = (await page.locator('#task option').allTextContents()).slice(1);
	const wrong = [];

	for (const task of tasks) {
		await page.selectOption('#task', task);
		const drawn = await frames(page);
		const [ns, error] = amountOf(drawn[0]);
		const only = drawn.filter(frame => frame.y > drawn[0].y - 20 && frame !== drawn[0]);

		wrong.push(...near(task, only[0].width, WIDTH, 1), ...unsupported(drawn),
			   ...(only.length === 1 && only[0].name === task ? [] : [only.length]),
			   ...near(task, ns, sum(stack => isOnCpu(stack) && stack.names[0] === task), error));
	}
	check('a task can be chosen', tasks.length > 1 ? wrong : ['there are none']);
	await page.screenshot({ path: path.join(shots, 'flame-task.png') });
	await page.selectOption('#task', '');
	const cpus = (await page.locator('#cpu option').allTextContents()).slice(1);
	let ns = 0, error = 0;

	for (const cpu of cpus) {
		await page.selectOption('#cpu', { label: cpu });
		const all = await frames(page);

		ns += amountOf(all[0])[0];
		error += amountOf(all[0])[1];
		wrong.push(...unsupported(all), ...near(cpu, all[0].width, WIDTH, 1));
	}
	check('so can a CPU, and all CPUs have all of it', [...wrong, ...(cpus.length > 1 ? [] : ['there are none']),
		...near('ns', ns, sum(isOnCpu), error)]);
	await page.click('#reset');
	check('and all of it again', near('all', amountOf((await frames(page))[0])[0], sum(isOnCpu),
		amountOf((await frames(page))[0])[1]));
}

async function withOffCpu(page) {
	await page.goto(pathToFileURL(offCpu).href);
	const all = await frames(page);
	const off = await page.evaluate(() => [...document.querySelectorAll('g.f')]
		.map(frame => [frame.dataset.n, frame.querySelector('rect').getAttribute('fill')]));
	const blue = 'rgb(110,150,220)';

	check('time off the CPU has its own colour, and nothing else has it', off
		.filter(([name, fill]) => (name === OFF) !== (fill === blue)).map(String));
	check('and is as wide as it was long', [...unsupported(all), ...near(OFF,
		parseFloat(await search(page, escaped(OFF))), 100 * sum(stack => !isOnCpu(stack)) /
			sum(() => true), 0.2)]);
	await page.screenshot({ path: path.join(shots, 'flame-off-cpu.png') });
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

console.log('TAP version 13\n1..16');
try {
	const view = { viewport: { width: WIDTH, height: 900 } };

	await flameGraph(await browser.newPage(view));
	await chosen(await browser.newPage(view));
	await withOffCpu(await browser.newPage(view));
	await speedscope(await browser.newPage(view));
} finally {
	await browser.close();
}
process.exit(failed || nr !== 16 ? 1 : 0);
