// SPDX-License-Identifier: GPL-2.0
// usage: pictures.mjs MODULES CHROMIUM FLAME.svg OFF-CPU.svg FOLDED SPEEDSCOPE.json PPROF SHOTS
// Open flame graphs without and with the time off the CPU in Chromium, and exports in speedscope: of the same
// recording, and to pprof of twice that recording. Click, search, select, and compare with the folded stacks and the
// export. MODULES is the folder in which npm has installed playwright-core and speedscope; SHOTS is a folder for
// screenshots. Prints TAP.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import fs from 'node:fs';
import path from 'node:path';

const [modules, program, flame, offCpu, folded, exported, pprof, shots] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules) + '/')('playwright-core');
const WIDTH = 1300;		// of the window and of the whole graph, in pixels
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

// Return all shown frames: name, position, width, and the path of names from the task on.
function frames(page) {
	return page.evaluate(() => {
		const names = [];

		return [...document.querySelectorAll('g.f')].map((frame, nr) => {
			const { x, y, width } = frame.querySelector('rect').getBoundingClientRect();

			names.length = +frame.dataset.d;
			names.push(frame.dataset.n);
			return { nr, name: frame.dataset.n, x, y, width, shown: frame.style.display !== 'none',
				 text: frame.querySelector('text').textContent, path: names.slice(1),
				 title: frame.querySelector('title').textContent };
		}).filter(frame => frame.shown);
	});
}

// Return errors for frames, except in the lowest row, that are not above a frame of at least their width.
function unsupported(all) {
	const rows = [...new Set(all.map(frame => frame.y))].sort((a, b) => b - a);

	return all.filter(frame => frame.y !== rows[0] && !all.some(below =>
		below.y === rows[rows.indexOf(frame.y) - 1] && below.x <= frame.x + 0.05 &&
		below.x + below.width >= frame.x + frame.width - 0.05))
		.map(frame => `${frame.name} at ${frame.x}, ${frame.y} hangs in the air`);
}

// Each stack and its ns; the last name of a stack off the CPU is OFF.
const OFF = '[off CPU]';
const stacks = fs.readFileSync(folded, 'utf8').trimEnd().split('\n').map(line => {
	const at = line.lastIndexOf(' ');

	return { names: line.slice(0, at).split(';'), ns: +line.slice(at + 1) };
});

function sum(which) {
	return stacks.filter(which).reduce((ns, stack) => ns + stack.ns, 0);
}

const isOnCpu = stack => stack.names.at(-1) !== OFF;

// Return for what part of the time on a CPU, in percent, the stack contained a function.
function shareOf(name) {
	return 100 * sum(stack => isOnCpu(stack) && stack.names.includes(name)) / sum(isOnCpu);
}

function escaped(name) {
	return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

// Return ns and their precision from "kfree: 1.250 ms, ...".
function amountOf(frame) {
	const [, number, unit] = /^: ([\d.]+) (ns|us|ms|s)/.exec(frame.title.slice(frame.name.length));
	const scale = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit];

	return [number * scale, 0.51 * scale / 10 ** (number.split('.')[1] || '').length];
}

// Return the ns on a CPU of all stacks that begin with a path.
function timeOf(names) {
	return sum(stack => isOnCpu(stack) && names.every((name, at) => stack.names[at] === name));
}

// A duration of four digits, as people read it: "999 ns", "1.250 ms", "12.50 ms", "125.0 ms".
const READABLE = /^(\d{1,3} ns|(\d\.\d{3}|\d\d\.\d\d|\d{3}\.\d) (us|ms|s)|\d{4,} s)$/;

// Return errors in the titles of frames: their times, and their share of the frame that fills the width.
function titles(all, whole) {
	const errors = [];

	for (const frame of all) {
		const rest = frame.title.slice(frame.name.length);
		const [, duration, share] =
			/^: ([^,]*)(?:, ([\d.]+) % of what is shown)?(?:, (?:1 call|(?!1 )\d+ calls))?$/.exec(rest) || [];
		const ns = timeOf(frame.path), wholeNs = timeOf(whole.path);
		const within = whole.path.every((name, at) => frame.path[at] === name) || ns === wholeNs;

		if (!READABLE.test(duration))
			errors.push(`${frame.title}: not readable`);
		else
			errors.push(...near(frame.title, amountOf(frame)[0], ns, amountOf(frame)[1]));
		if (within)
			errors.push(...near(`${frame.title}: the share`, +share, 100 * ns / wholeNs, 0.0051));
		else if (share)
			errors.push(`${frame.title}: it is not within ${whole.name}`);
	}
	return errors;
}

// Return errors in the graph's own title: the time on a CPU, and off it.
function heading(text) {
	const [, on, off] = /: time on a CPU, (.*); off the CPU (.*) more \(--off-cpu draws it\)$/.exec(text) || [];

	return [[on, sum(isOnCpu)], [off, sum(stack => !isOnCpu(stack))]].flatMap(([duration, ns]) => {
		if (!READABLE.test(duration))
			return [`${text}: not readable`];
		const [is, error] = amountOf({ name: '', title: `: ${duration}` });

		return near(text, is, ns, error);
	});
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
	check('it loads nothing else', asked.slice(1));
	check('its title has times in readable units', heading(await page.textContent('text.t')));
	check('titles of frames have their times in readable units, and shares', titles(all, all[0]));
	await page.screenshot({ path: path.join(shots, 'flame.png') });

	const some = all.filter(frame => frame.width > 60 && frame.width < WIDTH / 2)
		.sort((a, b) => a.width - b.width)[0];
	await page.locator('g.f').nth(some.nr).locator('rect').click();
	const wide = await frames(page);
	const zoomed = wide.find(frame => frame.name === some.name && frame.y === some.y);
	check('a click zooms a frame to the full width', [
		...near(some.name, zoomed ? zoomed.width : 0, WIDTH, 1), ...unsupported(wide),
		...(zoomed.title.includes(' 100.00 % of what is shown') ? [] : [zoomed.title]),
		...(wide.length < all.length ? [] : ['all others are still there'])]);
	check('shares are of the zoomed frame then', wide.length > 3 ? titles(wide, some) : ['few frames']);
	check('its name is complete then', zoomed && zoomed.text === some.name ? [] : [some.name]);
	await page.screenshot({ path: path.join(shots, 'flame-zoomed.png') });
	await page.click('#reset');
	const back = await frames(page);
	check('reset restores the graph', JSON.stringify(back) === JSON.stringify(all) ? [] : ['it differs']);

	// Frames that are too narrow to be drawn are not found.
	check('a search shows the share of all', near(some.name,
		parseFloat(await search(page, `^${escaped(some.name)}$`)), shareOf(some.name), 0.2));
	const hits = await page.evaluate(() => [...document.querySelectorAll('g.hit')].map(f => f.dataset.n));
	check('and colours the matching frames', hits.length && hits.every(name => name === some.name) ? [] : hits);
	check('an invalid regular expression is reported',
		await search(page, '(') === 'no regular expression' ? [] : ['it is not']);
	await search(page, '');
}

// Test the window's width, and the selection of tasks and CPUs.
async function chosen(page) {
	await page.goto(pathToFileURL(flame).href);
	await page.setViewportSize({ width: 700, height: 900 });
	await page.waitForTimeout(500);
	const narrow = await frames(page);
	check('the graph is as wide as the window', [...near('all', narrow[0].width, 700, 1), ...unsupported(narrow)]);
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
	check('a task can be selected', tasks.length > 1 ? wrong : ['there are none']);
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
	check('a CPU can be selected, and the CPUs add up to the whole', [...wrong, ...(cpus.length > 1 ? [] : ['there are none']),
		...near('ns', ns, sum(isOnCpu), error)]);
	await page.click('#reset');
	check('reset shows the whole again', near('all', amountOf((await frames(page))[0])[0], sum(isOnCpu),
		amountOf((await frames(page))[0])[1]));
}

async function withOffCpu(page) {
	await page.goto(pathToFileURL(offCpu).href);
	const all = await frames(page);
	const off = await page.evaluate(() => [...document.querySelectorAll('g.f')]
		.map(frame => [frame.dataset.n, frame.querySelector('rect').getAttribute('fill')]));
	const blue = 'rgb(110,150,220)';

	check('only time off the CPU has its colour', off
		.filter(([name, fill]) => (name === OFF) !== (fill === blue)).map(String));
	check('its width is its share of the time', [...unsupported(all), ...near(OFF,
		parseFloat(await search(page, escaped(OFF))), 100 * sum(stack => !isOnCpu(stack)) /
			sum(() => true), 0.2)]);
	await page.screenshot({ path: path.join(shots, 'flame-off-cpu.png') });
}

// --- speedscope ---

// Return all profiles, and the own ns of functions in the first profile, by name.
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

// Return ns and their precision from "72.61ms (36%)".
function shown(text) {
	const [, number, unit] = /^([\d.]+)(ns|µs|ms|s)/.exec(text) || [, NaN, 's'];
	const scale = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[unit];

	return [number * scale, 0.0051 * scale];
}

// Open a file in speedscope. Return errors of the page.
async function open(page, file) {
	const source = path.join(shots, `${path.basename(file)}.js`);
	const errors = [];

	fs.writeFileSync(source, `speedscope.loadFileFromBase64("${path.basename(file)}",
		"${fs.readFileSync(file).toString('base64')}")`);
	page.on('pageerror', error => errors.push(error.message));
	await page.goto(pathToFileURL(path.resolve(modules,
		'node_modules/speedscope/dist/release/index.html')).href + `#localProfilePath=${source}`);
	return errors;
}

// Return errors where speedscope's table of functions differs from their own times.
async function compareTable(page, self) {
	await page.getByText('Sandwich').click();
	await page.waitForTimeout(1000);
	const rows = await page.evaluate(() => [...document.querySelectorAll('tr')]
		.map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))
		.filter(row => row.length === 3 && /^[\d.]+(ns|µs|ms|s) /.test(row[0])));
	return [...(rows.length > 20 ? [] : [`${rows.length} rows`]),
		...rows.flatMap(row => near(row[2], shown(row[1])[0], self.get(row[2]) ?? NaN, shown(row[1])[1]))];
}

async function speedscope(page) {
	const errors = await open(page, exported);
	const { profiles, self } = selfTimes();

	await page.getByText(`(1/${profiles.length})`).waitFor({ timeout: 20000 });
	await page.waitForTimeout(1000);
	await page.screenshot({ path: path.join(shots, 'speedscope.png') });
	check('speedscope finds a profile for each task', errors);
	check('its times equal those of the export', await compareTable(page, self));
}

// The own times on a CPU of functions in two equal recordings, from the folded stacks of one.
function selfOfTwo() {
	const self = new Map();

	for (const { names, ns } of stacks.filter(isOnCpu))
		self.set(names.at(-1), (self.get(names.at(-1)) || 0) + 2 * ns);
	return self;
}

async function pprofInSpeedscope(page) {
	const errors = await open(page, pprof);

	await page.getByText('Sandwich').waitFor({ timeout: 20000 });
	await page.waitForTimeout(1000);
	await page.screenshot({ path: path.join(shots, 'speedscope-pprof.png') });
	check('speedscope opens the export to pprof', errors);
	check('its times are those of both recordings', await compareTable(page, selfOfTwo()));
}

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });

console.log('TAP version 13\n1..21');
try {
	const view = { viewport: { width: WIDTH, height: 900 } };

	await flameGraph(await browser.newPage(view));
	await chosen(await browser.newPage(view));
	await withOffCpu(await browser.newPage(view));
	await speedscope(await browser.newPage(view));
	await pprofInSpeedscope(await browser.newPage(view));
} finally {
	await browser.close();
}
process.exit(failed || nr !== 21 ? 1 : 0);
