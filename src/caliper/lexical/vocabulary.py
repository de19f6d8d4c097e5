"""Tables of very common English words of captions, written by hand.

They list kinds of things, two-word names, irregular forms, and words that say little.
"""

from __future__ import annotations


def word_list(table: str) -> tuple[str, ...]:
    """The words of a table, in order."""
    return tuple(table.split())


def word_set(table: str) -> frozenset[str]:
    """The words of a table as a set."""
    return frozenset(table.split())


KINDS = """
person: traveler visitor guest shopper commuter bystander resident man woman child baby boy girl
    lady player worker student teacher driver passenger rider cyclist skier skater surfer dancer
    singer actor actress musician performer athlete chef waiter waitress doctor nurse police
    soldier farmer vendor bride groom couple pedestrian tourist customer spectator teenager adult
    individual figure human somebody someone character runner swimmer climber biker skateboarder
    snowboarder model artist reporter host mother father parent friend pilot firefighter guard
    warrior crowd sailor captain crew pirate barista baker cashier butcher monk nun priest servant
    anchor coach referee umpire defender goalkeeper opponent teammate judge lawyer scientist
    engineer mechanic carpenter craftsman painter photographer cameraman audience spectator
    bystander onlooker attendee member owner neighbor colleague coworker companion husband wife
    brother sister uncle aunt senior infant bartender clerk salesman knight archer wrestler
    boxer golfer drummer guitarist violinist pianist hiker jogger skateboarder goalie batter
    pitcher catcher bowler dribbler speaker presenter customer patient prisoner thief villager;
man: groom policeman fireman businessman king prince father grandfather cowboy husband brother
    uncle monk priest son;
woman: bride queen princess actress mother grandmother waitress businesswoman wife sister aunt
    nun daughter;
child: boy girl baby student son daughter;
boy: son;
girl: daughter;
dog: terrier poodle retriever husky labrador bulldog corgi dachshund beagle chihuahua shepherd
    dalmatian pug spaniel collie;
cat: tabby;
animal: dog cat horse cow sheep goat pig bird elephant giraffe zebra lion tiger bear monkey rabbit
    deer fish duck chicken wolf fox panda squirrel leopard cheetah turtle penguin camel donkey rat
    kangaroo koala dolphin whale shark seal hippo;
bird: eagle seagull gull pigeon parrot duck goose swan owl sparrow crow chicken penguin raven
    flamingo peacock pelican heron hawk robin;
vehicle: car truck bus van motorcycle bicycle train tram taxi suv jeep ambulance scooter tractor
    trailer boat airplane helicopter cab;
car: taxi suv jeep van convertible cab minivan;
boat: canoe kayak yacht sailboat ferry raft rowboat gondola;
building: house skyscraper tower church hotel apartment temple castle office shop school barn hut
    shed cabin mosque structure hospital mall;
tree: pine palm oak maple willow birch bamboo evergreen conifer;
leaf: leaves;
eyeglasses: glasses;
flower: rose tulip daisy lily orchid sunflower blossom bouquet petal lavender carnation dandelion
    poppy;
plant: flower tree fern cactus succulent vine houseplant ivy;
fruit: apple banana orange grape strawberry lemon lime pear peach mango pineapple watermelon
    cherry blueberry raspberry berry melon kiwi;
vegetable: carrot tomato potato onion cucumber lettuce broccoli pepper cabbage spinach celery corn
    eggplant radish;
food: bread meat cake pizza sandwich burger salad soup noodle rice pasta fruit vegetable dish
    dessert cookie sushi steak cheese egg chicken snack sauce dumpling;
drink: coffee tea juice beer wine soda milk water cocktail beverage smoothie;
furniture: chair table couch desk bed cupboard dresser bench stool shelf bookshelf armchair
    wardrobe ottoman;
chair: armchair;
table: desk nightstand;
hat: cap helmet beret fedora headwear hood;
shoe: sneaker boot sandal heel slipper loafer footwear;
clothes: shirt pants jacket dress skirt sweater suit jeans uniform hoodie costume garment clothing
    vest shorts apparel gown robe;
headwear: hat cap helmet crown headband;
footwear: shoe boot;
jewelry: necklace ring bracelet earring;
bag: handbag backpack suitcase pouch tote sack satchel briefcase;
toy: doll teddy lego puzzle figurine;
container: box bottle bowl cup pot basket bin bucket barrel tin can;
instrument: guitar piano violin drum flute trumpet saxophone cello keyboard;
weapon: gun sword knife bow spear axe dagger staff shield;
device: phone laptop computer tablet camera monitor;
screen: monitor television scoreboard;
door: gate doorway portal entrance;
light: lamp chandelier lantern spotlight headlight streetlight bulb;
lamp: chandelier sconce;
picture: painting poster print portrait drawing illustration photo;
decoration: ornament garland wreath;
seat: chair bench stool couch armchair;
sign: billboard signpost plaque placard;
ball: basketball football baseball soccer volleyball golfball;
tool: hammer screwdriver wrench drill shovel rake axe knife pliers;
utensil: fork spoon knife chopsticks spatula ladle;
cup: teacup goblet;
bread: baguette roll bun croissant bagel loaf toast;
dessert: cake cupcake macaron cookie pie pastry donut ice-cream pudding tart brownie;
cake: cupcake cheesecake;
meat: steak beef pork ham bacon sausage chicken;
nut: almond walnut peanut cashew;
top: shirt blouse sweater hoodie jersey;
shirt: jersey polo;
pants: jeans leggings;
jacket: cardigan windbreaker;
appliance: refrigerator microwave oven stove toaster dishwasher blender;
stair: escalator;
hand: fist;
fence: hedge;
glass: wineglass goblet;
body: torso;
painting: canvas mural;
stone: cobblestone;
road: highway alley intersection crossroad freeway;
water: sea lake river pool ocean waterfall;
insect: butterfly bee ant spider beetle dragonfly moth fly;
room: bedroom bathroom kitchen hallway livingroom diningroom classroom office lobby studio;
window: windowpane skylight;
move: walk run jump fly drive ride climb swim slide crawl;
speak: shout whisper argue;
look: examine inspect
""".strip()
"""General words and the kinds of them that captions name; separated by semicolons."""

COMPOUNDS = """
parking lot=carpark; fire escape=fireescape; parking garage=carpark; swimming pool=pool; cell
phone=phone; mobile phone=phone; smart phone=phone; trash can=bin; garbage can=bin; trash bin=bin;
garbage bin=bin; waste bin=bin; rubbish bin=bin; waste basket=bin; t shirt=shirt; tee shirt=shirt;
television set=television; tv screen=television; living room=livingroom; dining room=diningroom;
bath tub=bathtub; coffee mug=cup; coffee cup=cup; tea cup=cup; sun glasses=sunglasses; street
light=streetlight; street lamp=streetlight; lamp post=streetlight; light pole=streetlight; traffic
light=trafficlight; traffic signal=trafficlight; stop light=trafficlight; fire truck=firetruck;
fire engine=firetruck; police officer=police; police man=police; air
plane=airplane; jet plane=airplane; wine glass=wineglass; base ball=baseball; basket
ball=basketball; foot ball=football; hard hat=helmet; motor bike=motorcycle; motor
cycle=motorcycle; book shelf=bookshelf; book case=bookshelf; bookcase unit=bookshelf; side
walk=sidewalk; high chair=highchair; arm chair=armchair; key board=keyboard; teddy bear=teddy;
stuffed animal=teddy; stuffed bear=teddy; stuffed toy=teddy; running shoe=sneaker; tennis
shoe=sneaker; bow tie=bowtie; neck tie=necktie; light bulb=lightbulb; night stand=nightstand;
bedside table=nightstand
""".strip()
"""Two-word names and the single word for their meaning."""

PARTICLES = """
walk out=leave; go out=leave; come out=leave; get out=leave; run out=leave; step out=leave; walk
away=leave; run away=leave; drive away=leave; drive off=leave; fly away=leave; walk off=leave; go
away=leave; move away=leave; ride away=leave; get off=alight; get on=board; get onto=board; climb
into=board; get into=board; go into=enter; walk into=enter; come into=enter; come in=enter; walk
in=enter; go in=enter; run in=enter; burst into=enter; step in=enter; come inside=enter; step
into=enter; run into=enter; take off=takeoff; lift off=takeoff; put on=wear; pick up=pick; stand
up=standup; get up=standup; rise up=standup; sit down=sitdown; take seat=sitdown; fall down=fall;
blow up=explode; turn around=turnaround; put down=putdown; set down=putdown; look back=turnaround;
turn back=turnaround; lie down=liedown; wake up=awake; jump off=alight; climb off=alight; climb
down=descend; hold up=raise; lift up=raise; cheer up=cheer; turn on=activate; switch on=activate;
run after=chase; go after=chase; look for=search; hand over=give; knock down=knock; throw
away=discard
""".strip()
"""Phrasal verbs and their meaning besides that of the verb."""

IRREGULAR = dict(
    pair.split("=")
    for pair in word_list("""
men=man women=woman people=person persons=person children=child feet=foot teeth=tooth mice=mouse
geese=goose oxen=ox knives=knife shelves=shelf wolves=wolf loaves=loaf halves=half lives=life
wives=wife calves=calf scarves=scarf policemen=police policeman=police officer=police
officers=police policewoman=police firemen=firefighter grey=gray greyish=grayish colour=color
colours=color coloured=color colored=color colors=color ran=run sat=sit stood=stand held=hold
rode=ride ridden=ride wrote=write written=write spoke=speak spoken=speak threw=throw thrown=throw
caught=catch fell=fall fallen=fall flew=fly flown=fly drove=drive driven=drive swam=swim sang=sing
ate=eat eaten=eat drank=drink drunk=drink gave=give given=give took=take taken=take came=come
went=go gone=go got=get gotten=get made=make put=put saw=see seen=see wore=wear worn=wear
broke=break broken=break bent=bend built=build bought=buy brought=bring fought=fight left=left
lay=lie lying=lie laid=lay led=lead slept=sleep swung=swing hung=hang shook=shake shaken=shake
shot=shoot told=tell said=say began=begin begun=begin blew=blow blown=blow drew=draw drawn=draw
hid=hide younger=young youngest=young older=old oldest=old bigger=big larger=large smaller=small
taller=tall elder=old hidden=hide knelt=kneel rose=rose risen=rise sliding=slide slid=slide
spun=spin struck=strike swept=sweep tore=tear torn=tear woke=wake paid=pay kept=keep dove=dive
leapt=leap leaning=lean staring=stare bicycles=bicycle dying=die tying=tie trousers=pants
clothing=clothes photos=photo buses=bus indoors=indoor outdoors=outdoor seated=sit standing=stand
skis=ski skiing=ski theatre=theater center=center centre=center tyre=tire tyres=tire
jewellery=jewelry moustache=mustache doughnut=donut axes=axe
""")
)
"""Irregular forms and spelling variants, to the form to stem."""

KEPT = {
    form: noun
    for noun in word_list("""
        performer traveler reporter resident commuter universe university counter vegetation clothe
        lighting photographer villager engineer defender presenter dribbler wrestler catcher owner
        collector hiker senior anchor retriever
    """)
    for form in (noun, f"{noun}s")
}
"""Nouns whose stem would be that of another word: a performer is not a performance."""

STOPWORDS = word_set(
    """
    a an the this that these those there here it its it's he she his her hers him they them their
    theirs we our us you your i my me and or but nor so yet if then than as at by for from in into
    of off on onto out over to toward towards under up upon with within without about above across
    after against along among around before behind below beneath beside besides between beyond
    down during through throughout is are was were be been being am do does did done has have had
    having can could will would shall should may might must not no very more most much many some
    any each every other another such own same also too just only both all while when where which
    who whom whose what why how because until again further once via per near next one's s t d ll
    re ve etc e.g i.e , ; : ( )
"""
)

GENERIC_VERBS = word_set(
    """
    be have do make get go take come start begin continue try use seem appear look see show move
    turn stand stay keep remain let put hold give feature depict include
"""
)
