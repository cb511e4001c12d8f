// SPDX-License-Identifier: GPL-2.0
// In a flame graph: a click makes a frame as wide as all; a field searches.
// What is here becomes a part of the picture.

const WIDTH = 1200, MARGIN = 10, LETTER = 7;
const frames = [...document.querySelectorAll('g.f')];
const field = document.getElementById('search');
const found = document.getElementById('found');
let from = 0, wide = 1;		// what is shown, in fractions of all

function label(name, width) {
	const letters = Math.floor((width - 6) / LETTER);

	if (letters < 3)
		return '';
	return name.length <= letters ? name : name.slice(0, letters - 2) + '..';
}

function draw() {
	for (const frame of frames) {
		const begin = (+frame.dataset.x - from) / wide;
		const end = begin + +frame.dataset.w / wide;
		const left = Math.max(0, begin), right = Math.min(1, end);
		const x = MARGIN + left * (WIDTH - 2 * MARGIN);
		const width = (right - left) * (WIDTH - 2 * MARGIN);
		const rect = frame.querySelector('rect'), text = frame.querySelector('text');

		frame.style.display = right - left > 1e-7 && width > 0.1 ? '' : 'none';
		rect.setAttribute('x', x);
		rect.setAttribute('width', Math.max(0, width - 0.3));
		rect.style.opacity = begin < -1e-9 || end > 1 + 1e-9 ? 0.6 : 1;
		text.setAttribute('x', x + 3);
		text.textContent = label(frame.dataset.n, width);
	}
}

function zoom(frame) {
	from = +frame.dataset.x;
	wide = +frame.dataset.w;
	draw();
}

// How much of all has a frame that matches in its stack: those within another count once.
function share(hits) {
	let sum = 0, end = -1;

	hits.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
	for (const [x, w] of hits) {
		if (x < end - 1e-12)
			continue;
		sum += w;
		end = x + w;
	}
	return sum;
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
		const hit = expression && expression.test(frame.dataset.n);

		frame.classList.toggle('hit', Boolean(hit));
		if (hit)
			hits.push([+frame.dataset.x, +frame.dataset.w]);
	}
	found.textContent = expression ? (100 * share(hits)).toFixed(2) + ' % match' : '';
}

for (const frame of frames)
	frame.addEventListener('click', () => zoom(frame));
document.getElementById('reset').addEventListener('click', () => {
	from = 0;
	wide = 1;
	draw();
});
field.addEventListener('input', search);
draw();
