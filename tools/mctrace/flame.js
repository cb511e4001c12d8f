// SPDX-License-Identifier: GPL-2.0
// The script of the flame graphs that flame.c writes: a click zooms to a frame, one field searches,
// and two fields select a task and a CPU.

const LETTER = 7, NARROW = 0.1;		// pixels
const picture = document.documentElement;
const timed = picture.dataset.time === '1';
const [task, cpu, field, found] = ['task', 'cpu', 'search', 'found']
	.map(id => document.getElementById(id));
let shown = null;		// the frame that fills the width; null: all

// Each frame: its elements, the frames it contains, and its values by CPU.
const frames = [...document.querySelectorAll('g.f')].map(element => ({
	element, rect: element.querySelector('rect'), text: element.querySelector('text'),
	title: element.querySelector('title'), name: element.dataset.n, below: [],
	depth: +element.dataset.d, begin: +element.dataset.x, wide: +element.dataset.w,
	calls: +element.dataset.c, all: 0, value: 0, from: 0, to: 0,
	cpus: element.dataset.v.split(' ').filter(part => part).map(part => part.split(':').map(Number)),
}));
const root = frames[0];

// Link each frame to the frame that contains it, by depth.
function connect() {
	const stack = [];

	for (const frame of frames) {
		stack.length = frame.depth;
		frame.above = stack[frame.depth - 1] || null;
		if (frame.above)
			frame.above.below.push(frame);
		stack.push(frame);
		frame.all = frame.cpus.reduce((sum, [, value]) => sum + value, 0);
	}
}

// Format ns: 1250000 is "1.250 ms".
function duration(ns) {
	const units = ['ns', 'us', 'ms', 's'];
	let unit = 0;

	for (; ns >= 999.95 && unit < 3; unit++)
		ns /= 1000;
	const digits = !unit || ns >= 999.95 ? 0 : ns >= 99.995 ? 1 : ns >= 9.9995 ? 2 : 3;

	return `${ns.toFixed(digits)} ${units[unit]}`;
}

function calls(nr) {
	return `${nr} call${nr === 1 ? '' : 's'}`;
}

function amount(value) {
	return timed ? duration(value) : calls(value);
}

function label(name, width) {
	const letters = Math.floor((width - 6) / LETTER);

	if (letters < 3)
		return '';
	return name.length <= letters ? name : name.slice(0, letters - 2) + '..';
}

// Set the values of a frame and the frames it contains, for the selected task and CPU.
function weigh(frame) {
	const mine = frame.depth !== 1 || !task.value || frame.name === task.value;

	frame.below.forEach(weigh);
	if (!mine)
		frame.value = 0;
	else if (frame === root && task.value)
		frame.value = frame.below.reduce((sum, below) => sum + below.value, 0);
	else
		frame.value = frame.cpus.reduce((sum, [nr, value]) =>
			sum + (!cpu.value || +cpu.value === nr ? value : 0), 0);
}

// Set the position of a frame, as fractions of all, and of the frames it contains, side by side.
function place(frame, from) {
	const chosen = task.value || cpu.value;

	frame.from = chosen ? from : frame.begin;
	frame.to = frame.from + (!chosen ? frame.wide : root.value ? frame.value / root.value : 0);
	for (const below of frame.below) {
		place(below, from);
		from += root.value ? below.value / root.value : 0;
	}
}

function draw() {
	const { from, to } = shown || { from: 0, to: 1 };
	const scale = to > from ? 1 / (to - from) : 0, width = picture.clientWidth;
	const whole = shown ? shown.value : root.value;

	for (const frame of frames) {
		const begin = (frame.from - from) * scale, end = (frame.to - from) * scale;
		const left = Math.max(0, begin), right = Math.min(1, end);
		const outside = begin < -1e-9 || end > 1 + 1e-9;

		frame.element.style.display = (right - left) * width > NARROW ? '' : 'none';
		frame.rect.setAttribute('x', `${100 * left}%`);
		frame.rect.setAttribute('width', `${100 * Math.max(0, right - left)}%`);
		frame.rect.style.opacity = outside ? 0.6 : 1;
		frame.text.setAttribute('x', `${100 * left}%`);
		frame.text.textContent = label(frame.name, (right - left) * width);
		frame.title.textContent = `${frame.name}: ${amount(frame.value)}` +
			(outside ? '' : `, ${(100 * frame.value / whole || 0).toFixed(2)} % of what is shown`) +
			(timed && frame.calls ? `, ${calls(frame.calls)}` : '');
	}
	search();
}

function choose() {
	weigh(root);
	place(root, 0);
	if (shown && !shown.value)
		shown = null;
	draw();
}

// Return the share of the shown width that @hits cover. Hits within another hit count once.
function share(hits) {
	const { from, to } = shown || { from: 0, to: 1 };
	let sum = 0, end = from;

	hits.sort((a, b) => a.from - b.from || b.to - a.to);
	for (const hit of hits) {
		const begin = Math.max(hit.from, end), until = Math.min(hit.to, to);

		if (until > begin) {
			sum += until - begin;
			end = until;
		}
	}
	return to > from ? sum / (to - from) : 0;
}

function search() {
	const hits = [];
	let expression = null;

	try {
		expression = field.value ? new RegExp(field.value) : null;
	} catch (error) {
		found.textContent = 'no regular expression';
		return;
	}
	for (const frame of frames) {
		const hit = expression && expression.test(frame.name);

		frame.element.classList.toggle('hit', Boolean(hit));
		if (hit)
			hits.push(frame);
	}
	found.textContent = expression ? `${(100 * share(hits)).toFixed(2)} % of what is shown match` : '';
}

function offer(select, all, names) {
	for (const [value, text] of [['', all], ...names]) {
		const option = document.createElementNS('http://www.w3.org/1999/xhtml', 'option');

		option.value = value;
		option.textContent = text;
		select.append(option);
	}
	select.addEventListener('change', choose);
}

connect();
offer(task, 'all tasks', root.below.map(frame => [frame.name, frame.name]));
offer(cpu, 'all CPUs', root.cpus.map(([nr]) => [`${nr}`, `CPU ${nr}`]));
for (const frame of frames)
	frame.element.addEventListener('click', () => {
		shown = frame === root ? null : frame;
		draw();
	});
document.getElementById('reset').addEventListener('click', () => {
	shown = null;
	task.value = cpu.value = '';
	choose();
});
field.addEventListener('input', search);
window.addEventListener('resize', draw);
choose();
