"""Synonyms among very common English words of captions, written by hand.

Each line is one meaning, named by its first word.
"""

from __future__ import annotations

SYNONYMS = """
couch sofa settee loveseat sectional
man guy gentleman male
woman lady female
child kid toddler youngster
baby infant newborn
boy lad
car automobile sedan hatchback
truck lorry pickup
bicycle bike cycle
motorcycle motorbike
airplane plane aeroplane aircraft jet airliner jetliner
boat ship vessel
phone cellphone smartphone telephone mobile
television tv
computer pc
laptop notebook
picture photo photograph photography pic image
painting artwork
rug carpet mat
curtain drape
bin dustbin trashcan wastebasket
cup mug teacup
glass tumbler
cupboard cabinet
dresser bureau
refrigerator fridge
stove cooker cooktop stovetop
countertop counter worktop
faucet tap
bathtub tub
pants trousers slacks
jeans denim
sweater jumper pullover
jacket coat blazer parka
shirt tshirt tee blouse
hoodie sweatshirt
sneaker trainer
eyeglasses spectacles
sunglasses shades
handbag purse
backpack rucksack knapsack
suitcase luggage baggage
cap beanie
necklace pendant
stone rock boulder pebble
road street roadway avenue lane
hay straw
sidewalk pavement footpath
path pathway trail walkway
shop store boutique
forest woods woodland jungle
sea ocean
beach shore seaside seashore coast shoreline coastline
hill slope hillside
mountain peak summit
lake pond
river stream creek
meadow pasture grassland
yard backyard courtyard
garden park
lawn turf
grass greenery
plant shrub bush foliage vegetation
trash garbage rubbish litter
police cop
soldier troop
doctor physician medic
kitchen kitchenette
dish meal cuisine
dessert sweet pastry
bread loaf toast
soda cola coke
sign signboard signage
poster placard flyer
banner streamer
logo emblem insignia
letter alphabet
word text
big large huge giant enormous massive
small little tiny miniature mini
tall high
fast quick rapid swift
quiet calm peaceful serene tranquil
begin start commence
end finish conclude
walk stroll stride wander pace march
jump leap hop bounce
catch seize
put place set
open unfold
close shut
drink sip
pour spill
sit seat
lie recline
sleep nap doze asleep
wear dress clad don attire outfit
kiss peck
fly soar hover
drive steer
ride mount
paddle row oar
burn blaze flame
approach near
hide conceal
save rescue
search seek
point gesture
show display reveal
write scribble
draw sketch
read peruse
clean wipe wash scrub
mix stir blend whisk
remove detach
fill load
crowd audience spectator
group bunch
team squad
town village
city urban metropolis downtown
rural countryside country
indoor inside interior
outdoor outside exterior
dusk sunset twilight
dawn sunrise
night nighttime evening
day daytime daylight
snow snowy
rain rainy
cloud cloudy
sun sunny sunlight
smoke fume steam
lamp lantern
streetlight lamppost streetlamp
alight dismount disembark
candle candlestick
handle knob
vase urn
basket hamper
box carton crate
container jar canister
bowl basin
plate saucer platter
pan skillet wok
pot saucepan kettle
knife blade
stick pole rod
rope cord string
fence railing barrier
wall partition
stair staircase stairway step
bed mattress
pillow cushion
blanket quilt duvet comforter
sheet linen
towel cloth
tissue napkin
bus
train locomotive railway
station terminal
airport runway
church cathedral chapel
temple shrine pagoda
castle palace fortress
bridge overpass viaduct
harbor port dock pier marina
restaurant diner eatery cafe cafeteria
hospital clinic
school classroom
library bookstore
office workplace
factory workshop
stadium arena
gym gymnasium
theater theatre cinema
stage podium platform
concert gig
wedding bridal
house home cottage residence villa
apartment flat condo
balcony terrace patio
hallway corridor
lobby foyer
bathroom restroom washroom toilet
farm ranch
crow raven
soccer football
field pitch
dog puppy pup canine
cat kitten kitty feline
horse pony stallion
cow cattle bull calf ox
rabbit bunny hare
chicken hen rooster
duck duckling
hog pig piglet
rat mouse
ape monkey chimpanzee
turtle tortoise
bug insect
teddy plush plushie
doll puppet figurine
robot android
ghost spirit
monster creature beast
warrior knight fighter
wizard witch mage sorcerer
sword saber katana
gun pistol rifle weapon firearm
ad advertisement commercial
graph chart diagram
number digit numeral
talk speak chat converse say tell conversation discuss discussion dialogue speech
attack assault
fight battle combat spar brawl wrestle
look gaze stare glance watch peer observe
pick take grab retrieve
hit strike punch smack slap beat
touch feel pat stroke rub caress pet
raise lift rise elevate ascend
cheer applaud clap applause celebrate
fall drop tumble collapse
run sprint jog dash race rush flee
chase follow pursue
shoot fire
explode blast burst explosion erupt
spin rotate swivel twirl whirl
turn twist
cook prepare
fry grill roast
cut slice chop carve dice
eat bite chew munch devour consume taste
throw toss hurl fling
push shove press
pull drag tug haul yank
reach stretch extend
appear emerge
disappear vanish
break smash shatter crack
help assist
give pass offer
greet welcome wave salute
shout yell scream scold holler
whisper murmur
laugh giggle chuckle laughter
smile grin
cry weep sob tear
hug embrace cuddle
kneel crouch squat
lean bend
hold grip clutch carry grasp
enter arrive
leave exit depart
surprise shock astonish startle
angry furious anger
sad upset sorrow
happy joyful joy delight
afraid scare frighten terrify fear
worry anxious nervous concern
hurt injure wound
kill murder stab
dead die death
old elderly
young youthful
tie fasten attach bind
steal rob
pray worship
practice exercise workout
perform performance
sing song vocal
dance sway
work labor
shake tremble
crash collide collision
film record
call dial
hang suspend
wrap cover
shine glow gleam
blow puff
scatter spread
gather assemble
surround encircle
discover find
inspect examine check
repair fix mend
build construct
""".strip()
