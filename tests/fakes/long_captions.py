"""Long, honest captions as models write them: 300 to 420 words, with many colours and numbers."""

MARKET = """The image captures a bustling open-air market on a sunny morning, with at least seven
stalls arranged along both sides of a narrow cobblestone street. In the foreground, a wooden table
covered by a red and white checkered cloth holds an abundance of fresh produce: bright red
tomatoes, deep purple eggplants, green and yellow bell peppers, orange carrots with their leafy
tops still attached, and a pyramid of pale green cabbages. Behind it stands a middle-aged woman
with short gray hair. She wears a navy blue apron over a cream-colored blouse and is handing a
brown paper bag to a young man in a black leather jacket and faded blue jeans. Three handwritten
chalkboard signs are attached to the stall; they read "Tomatoes 2.50", "Peppers 3.20" and "Carrots
1.80 per kilo".

To the left of the central stall, two children sit on an upturned blue crate, sharing a pink
ice cream. The older one, a girl of about ten, has her brown hair in two braids and wears a
turquoise dress with small white dots, while the younger boy wears a yellow raincoat and green
rubber boots even though there is no rain in sight. A small tan dog with a red collar lies at
their feet and looks up at the ice cream. Further back, a flower stand displays buckets of white
lilies, violet asters, orange marigolds, and at least four bunches of pink roses wrapped in silver
paper. A man with a beige straw hat leans over them and seems to be choosing a bouquet.

On the right side of the street, a fishmonger's stall with a teal and white striped awning shows
silver mackerel and pink salmon on crushed ice. Five customers wait in line, among them an elderly
couple holding hands and a woman pushing a maroon stroller. Above the street, strings of colorful
pennants in red, yellow, green, and blue run between the ochre and terracotta facades of the
three-story buildings, whose wooden shutters are painted olive green. The sky is a clear, pale
blue with only a few white clouds. The photograph is taken from a level angle at eye height, with a
shallow depth of field that keeps the produce in the foreground sharp and softly blurs the people
in the distance. The style is realistic, and the warm light and long shadows suggest that it is
early in the day. Overall, the scene conveys a lively, friendly atmosphere and a sense of
community."""

KITCHEN_CLIP = """The video opens with a wide shot of a small, tidy kitchen, in which a woman in a
mustard-yellow sweater and a white apron stands behind a gray marble counter. On the counter there
are two glass bowls, a wooden cutting board, a black-handled knife, six brown eggs in a carton, a
stick of butter, a blue bag of flour, and a green bottle of olive oil. The camera slowly pushes in
toward her hands as she cracks the first egg on the rim of the larger bowl, then the second, and
then a third one, throwing the shells into a small silver bin on her left. She picks up a whisk
with her right hand and beats the eggs quickly for about five seconds; at the same time she pours
in milk from a clear jug.

After a cut, the camera pans right and follows her as she walks to the stove, where a black cast
iron pan stands on one of the four burners. She turns the second knob from the left, waits, and
drops a piece of butter into the pan, which begins to melt and foam. The camera tilts down to show
the pan from a high angle. She pours the mixture in, tilts the pan in a circle, and sprinkles
chopped chives, red pepper flakes, and grated orange cheese on top. Steam rises toward the hood. A
tabby cat enters the frame in the lower left corner, jumps on a red stool, and watches her. She
laughs, says something to the cat that cannot be heard, and shakes her head.

In the next shot, which is almost fixed, she folds the omelette with a wooden spatula, slides it
onto a white plate with a thin blue rim, and puts two cherry tomatoes and a sprig of parsley beside
it. She carries the plate to a round table by the window, where a man in a dark green shirt is
reading a newspaper. He looks up, smiles, and puts the newspaper down on a purple cushion. The
camera zooms out slightly to reveal both of them sitting across from each other, with a pink orchid
and two orange glasses between them, while the sunlight falls through white curtains. The video
ends as he takes the first bite and raises his thumb. The style of the video is realistic, with
natural light and no visible effects."""

POSTER = """This is a vertical event poster with a dark navy background and an abstract pattern
of thin gold lines. Across the top, in large white capital letters, it says "SUMMER NIGHTS 2024",
and below it, in a smaller turquoise script, "Twelve concerts under the stars". In the center is a
stylized drawing of a saxophone player in profile, drawn in flat shapes of magenta, orange and
violet against a large yellow moon. Around the moon there are nine small silver stars. To the left
of the musician, three palm trees in teal and lime green lean toward the right; to the right, the
outline of a city with eleven buildings is drawn in charcoal gray, and some of their windows are
filled with amber.

The lower half of the poster holds the program in two columns. The left column lists: "June 1,
Marlow Quartet, 8 pm; June 8, The Copper Line, 8 pm; June 15, Ada Fenn, 7:30 pm; June 22, Low Tide
Brass, 8 pm; June 29, Night of Voices, 9 pm; July 6, Trio Sable, 8 pm". The right column lists:
"July 13, Orla and the Wells, 8 pm; July 20, Big Band North, 7 pm; July 27, Paper Moon, 8 pm;
August 3, Kestrel, 8 pm; August 10, Anna Brandt, 8 pm; August 17, Finale with all bands, 6 pm". All
dates are set in gold, all names in white. A crimson band at the bottom edge carries the address
"Harbor Park, Pier 4", the price "Tickets from 18 euros, children under 12 free", the phone number
"555 0134" and a black and white QR code in a white square. In the lower right corner are the
logos of four sponsors: a green leaf, a red circle with a white cross, a blue wave, and a brown
bear. The whole poster has slightly rounded corners and a thin beige border; the composition is
symmetrical, and the style recalls jazz posters from the 1960s."""

LONG_CAPTIONS = (MARKET, KITCHEN_CLIP, POSTER)
